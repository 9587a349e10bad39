// Local protocols of Sfumato in a browser: docs/how-to/browser.md, proofs/local/browser/sfumato-local.md.
// For the same random bits a report has the same bytes as Python's. No value is an error, as that would reveal it.

// A device's side of a protocol, given as Python's JSON: report(value) resolves to bytes, which cost their person ε.
export async function createClient(protocol, { secret } = {}) {
  const isKnown = protocol?.version === 1 && Object.hasOwn(KINDS, protocol.kind);
  check(isKnown, "protocol", `must have version 1 and a kind among ${Object.keys(KINDS)}`);
  const own = JSON.parse(written(protocol)), [names, kind] = KINDS[own.kind];
  check(hasOnly(own, "version", "kind", ...names), "protocol", `must have ${names} and nothing else`);
  const payload = await kind(own, secret);
  const fingerprint = (await sha256(utf8(written(own)))).slice(0, 4);
  return { report: async (value) => joined([[1], fingerprint, await payload(value)]) };
}

// The secret of this browser for this site, in every tab and after every reload: on the disk before it is used.
export function storedSecret(name = "device") {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("sfumato", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("secrets");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const writing = opening.result.transaction("secrets", "readwrite", { durability: "strict" });
      const secrets = writing.objectStore("secrets"), reading = secrets.get(name), fresh = random(32);
      reading.onsuccess = () => reading.result ?? secrets.add(fresh, name);
      writing.oncomplete = () => resolve(reading.result ?? fresh);
      writing.onabort = () => reject(writing.error);
    };
  });
}

// Send reports to …/v1/collections/NAME/reports as a batch that counts once, however often it is sent.
export async function send(url, key, reports, { batch, attempts = 6 } = {}) {
  batch ??= `${new Date().toISOString().slice(0, 10)}.${crypto.randomUUID()}`;
  check(reports.every?.((report) => report instanceof Uint8Array), "reports", "must be a list of reports");
  const headers = { "Content-Type": "application/octet-stream", "Idempotency-Key": batch };
  if (key) headers.Authorization = `Bearer ${key}`;
  const request = { method: "POST", headers, body: joined(reports), credentials: "omit", redirect: "error" };
  for (let pause = 1; ; pause *= 2) {
    let status = 0, content; // 0: the batch may have been counted or not
    try {
      const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(30_000) });
      content = await answer.json();
      status = answer.status;
      pause = Math.max(pause, Number(answer.headers.get("Retry-After")) || 0);
    } catch {}
    if (status === 200 && content?.accepted >= 0) return content;
    if (![0, 408, 429, 500, 502, 503, 504].includes(status) || --attempts < 1) {
      const why = content?.detail ?? "no answer; is this origin allowed?";
      throw Object.assign(new Error(`reports: not sent, ${why}`), { status, batch });
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000 * pause));
  }
}

// Of each kind, parameters and what makes payloads of values.
const KINDS = {
  direct: [["domain", "epsilon"], ({ domain, epsilon }) => {
    const { size, number } = domainOf(domain, 1 << 20), others = size - 1n, ratio = odds(epsilon, 1n);
    return async (value) => {
      const held = await number(value), [isLie] = coins([others * ONE, ratio + others * ONE], 1);
      const told = isLie ? below(others) : held;
      return integer(told + BigInt(isLie && told >= held), widthOf(size)); // a lie skips the truth
    };
  }],
  optimized_unary: [["domain", "epsilon"], ({ domain, epsilon }) => {
    const { size, number } = domainOf(domain, 1 << 20), ratio = odds(epsilon, 1n);
    return async (value) => unary(size, await number(value), [1n, 2n], [ONE, ratio + ONE]);
  }],
  count_mean_sketch: [["domain", "epsilon", "hashes", "width"], ({ domain, epsilon, hashes, width }) => {
    const { number } = domainOf(domain, 2 ** 31, true), root = odds(epsilon, 2n);
    const rows = BigInt(whole(hashes, "hashes", 1, 1 << 16));
    const columns = BigInt(whole(width, "width", 2, Math.min(1 << 16, (1 << 24) / hashes)));
    return async (value) => {
      const point = await number(value), row = below(rows), prime = (1n << 61n) - 1n;
      const parts = [0, 1].map((part) => sha256(utf8(`sfumato sketch row ${row} part ${part}`)));
      const drawn = joined(await Promise.all(parts)); // the row's hash function
      const [a, b, c] = [0, 16, 32].map((at) => numberOf(drawn.slice(at, at + 16)) % prime);
      const column = ((a * point + b) * point + c) % prime % columns;
      return joined([integer(row, widthOf(rows)), unary(columns, column, [root, root + ONE], [ONE, root + ONE])]);
    };
  }],
  rappor: [["bits", "hashes", "cohorts", "f", "p", "q", "metric"], async (parameters, secret) => {
    const { metric } = parameters, bits = whole(parameters.bits, "bits", 1, 4096);
    const hashes = whole(parameters.hashes, "hashes", 1, bits > 256 ? 8 : 16);
    const cohorts = BigInt(whole(parameters.cohorts, "cohorts", 1, 1024));
    check(isText(metric), "metric", "must be a text");
    const [f, p, q] = ["f", "p", "q"].map((name) => rational(parameters[name], name));
    const isSeven = 128n * f[0] % f[1] === 0n, limit = (f[0] << (isSeven ? 7n : 63n)) / f[1];
    check(limit > 0n && f[0] < f[1] && (f[0] << 63n) % f[1] === 0n, "f", "must be a multiple of 2^-63, below 1");
    check(p[0] * q[1] < q[0] * p[1] && q[0] <= q[1], "p", "must be below q, and q at most 1");
    check(secret instanceof Uint8Array && secret.length >= 16, "secret", "must be a Uint8Array of 16 or more");
    const own = secret.slice(), name = utf8(metric), isShort = bits <= 32, length = Math.ceil(bits / 8);
    const drawn = isShort ? await hmac(own, []) : await drbg(own, 16);
    const cohort = integer(numberOf(drawn.slice(0, 16).reverse()) % cohorts, 4);
    return async (value) => {
      const hashed = typeof value === "string" ? md5(joined([cohort, utf8(value)])) : new Uint8Array();
      const parts = (bits > 256 ? new Uint16Array(hashed.buffer) : hashed).slice(0, hashes);
      const set = Array.from(parts, (part) => part % bits);
      // The permanent response is a function of the secret and of the set bits: so it is remembered.
      const filter = integer(set.reduce((sum, bit) => sum | 1n << BigInt(bit), 0n), isShort ? 4 : length);
      const seeded = (mark, count) => drbg(joined([own, [mark], name, filter]), count);
      let draws, number = 0n;
      if (!isSeven) draws = new BigUint64Array((await seeded(2, 8 * bits)).buffer);
      else if (isShort) draws = await hmac(own, metric ? joined([[1], name, filter]) : filter);
      else draws = await seeded(1, bits);
      const ifUnset = coins(p, bits), ifSet = coins(q, bits);
      for (let bit = bits; bit--; ) {
        const draw = BigInt(draws[bit]), isHeld = draw >> 1n < limit ? draw & 1n : set.includes(bit);
        number = number << 1n | BigInt((isHeld ? ifSet : ifUnset)[bit]);
      }
      return joined([cohort.slice(4 - widthOf(cohorts)), integer(number, length)]);
    };
  }],
};

const ONE = 1n << 64n; // odds are fractions of it

function random(count) {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

// Coins that are 1 with probability top/bottom: 16 bits of a uniform number decide, and after a tie the next ones.
function coins([top, bottom], count) {
  const scaled = top << 16n, threshold = Number(scaled / bottom), rest = scaled % bottom, ties = [];
  const drawn = new Uint16Array(random(2 * count).buffer), found = Uint8Array.from(drawn, (start) => start < threshold);
  if (rest) drawn.forEach((start, at) => start === threshold && ties.push(at));
  if (ties.length) coins([rest, bottom], ties.length).forEach((coin, at) => (found[ties[at]] = coin));
  return found;
}

// A uniform whole number below n, by rejection.
function below(n) {
  const isShort = n <= 4096n, length = (n - 1n).toString(2).length;
  for (let tried = 0, batch = 1; ; tried += batch, batch = Math.min(tried + 8, 32_768)) {
    const bytes = random((isShort ? 2 : 8) * batch).buffer;
    for (const word of isShort ? new Uint16Array(bytes) : new BigUint64Array(bytes)) {
      const product = BigInt(word) * n, masked = BigInt.asUintN(length, BigInt(word));
      if (isShort ? product % 65_536n >= 65_536n % n : masked < n) return isShort ? product >> 16n : masked;
    }
  }
}

// ⌊2^64·e^x⌋ with x = ε/parts·(1 − 2^−40); rounding one term down lowers the sum by e^x at most.
function odds(epsilon, parts) {
  const [value, unit] = rational(epsilon, "epsilon");
  check(value * 1_000_000n >= unit && value <= 100n * unit, "epsilon", "must be from 0.000001 to 100");
  const top = value * ((1n << 40n) - 1n), bottom = unit * parts << 40n, octaves = 3n * top / (2n * bottom) + 2n;
  for (let bits = 128n + octaves; ; bits += 64n) { // e^x is below 2^octaves
    let sum = 0n, step = 0n;
    for (let term = 1n << bits; term; term = term * top / (bottom * step)) (sum += term), step++;
    if (sum >> bits - 64n === sum + (step << octaves) >> bits - 64n) return sum >> bits - 64n;
  }
}

// A randomized bit for each place, the first one highest in its byte.
function unary(size, place, held, other) {
  const bits = coins(other, Number(size)), bytes = new Uint8Array(Math.ceil(bits.length / 8));
  [bits[place]] = coins(held, 1);
  bits.forEach((bit, at) => (bytes[at >> 3] |= bit << (~at & 7)));
  return bytes;
}

// The values of a domain as numbers. What is not in it counts as `other`, or as a uniform value.
function domainOf(domain, most, takesTexts) {
  const { other, ...rest } = Object(domain), { labels, hash_bits: bits } = rest;
  const plain = (value) => (/boolean|bigint/.test(typeof value) ? Number(value) : value); // as in Python
  let size, place;
  if (hasOnly(rest, "size")) {
    size = whole(rest.size, "size", 2, most);
    place = (value) => (Number.isInteger(plain(value)) && value >= 0 && value < rest.size ? value : undefined);
  } else if (hasOnly(rest, "labels") && Array.isArray(labels)) {
    const numbers = new Map(labels.map((label, number) => [plain(label), number]));
    const areLabels = labels.every((label) => isText(label) || Number.isSafeInteger(plain(label)));
    check(areLabels && numbers.size === labels.length, "labels", "must be different texts or numbers");
    size = whole(labels.length, "labels", 2, most);
    place = (value) => numbers.get(plain(value));
  } else {
    check(takesTexts && hasOnly(domain, "hash_bits"), "domain", "must have a size, labels or hash_bits");
    size = 2 ** whole(bits, "hash_bits", 16, 61);
    const hashed = async (text) => numberOf((await sha256(utf8(text))).slice(0, 8)) >> BigInt(64 - bits);
    place = (value) => (typeof value === "string" ? hashed(value) : undefined);
  }
  const named = other === undefined ? other : place(other);
  check(named !== undefined || other === undefined, "other", "must be one of the values");
  size = BigInt(size);
  return { size, number: async (value) => BigInt((await place(value)) ?? named ?? below(size)) };
}

const { subtle } = crypto;

const sha256 = async (bytes) => new Uint8Array(await subtle.digest("SHA-256", bytes));

async function hmac(secret, data) {
  const key = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", key, joined([data])));
}

// HMAC-DRBG of SP 800-90A with SHA-256, asked once.
async function drbg(data, count) {
  let key = new Uint8Array(32), value = new Uint8Array(32).fill(1), found = [];
  for (const mark of [0, 1]) {
    key = await hmac(key, joined([value, [mark], data]));
    value = await hmac(key, value);
  }
  for (; count > 32 * found.length; found.push(value)) value = await hmac(key, value);
  return joined(found).slice(0, count);
}

// MD5 (RFC 1321), for Bloom filters.
function md5(bytes) {
  const words = new Uint32Array(joined([bytes, [128], new Uint8Array(71 - (bytes.length + 8) % 64)]).buffer);
  words[words.length - 2] = 8 * bytes.length;
  const turns = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let block = 0; block < words.length; block += 16) {
    let [a, b, c, d] = state;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4, turn = turns[round][i % 4], at = [i, 5 * i + 1, 3 * i + 5, 7 * i][round] % 16;
      const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round];
      const sine = Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32); // floats suffice
      const sum = (a + mixed + sine + words[block + at]) | 0;
      [a, d, c, b] = [d, c, b, (b + (sum << turn | sum >>> 32 - turn)) | 0];
    }
    [a, b, c, d].forEach((word, i) => (state[i] += word));
  }
  return new Uint8Array(state.buffer);
}

function check(holds, name, requirement) {
  if (!holds) throw new TypeError(`${name}: ${requirement}`);
}

function whole(number, name, least, most) {
  check(Number.isInteger(number) && number >= least && number <= most, name, `must be from ${least} to ${most}`);
  return number;
}

function rational(text, name) {
  const [, top = 0, bottom] = /^(\d+)\/?(\d*)$/.exec(text) ?? [], parts = [BigInt(top), BigInt(bottom || 1)];
  let [a, b] = parts;
  while (b) [a, b] = [b, a % b];
  const lowest = parts[1] === 1n ? `${parts[0]}` : parts.join("/");
  check(a === 1n && text === lowest, name, 'must be a text in lowest terms, such as "1/2"');
  return parts;
}

const hasOnly = (object, ...names) => `${Object.keys(Object(object)).sort()}` === `${names.sort()}`;
const isText = (text) => typeof text === "string" && !/\p{Surrogate}/u.test(text);

// Fingerprints are of JSON with sorted names.
function written(value) {
  const sorted = (part) => (part?.constructor === Object ? Object.fromEntries(Object.entries(part).sort()) : part);
  return JSON.stringify(value, (_, part) => sorted(part));
}

// UTF-8, also of half a surrogate pair, as in Python.
function utf8(text) {
  const half = (code) => [237, 128 | (code >> 6 & 63), 128 | (code & 63)];
  const encoded = (part) => (isText(part) ? new TextEncoder().encode(part) : half(part.charCodeAt(0)));
  return joined(Array.from(text, encoded));
}

const joined = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
const numberOf = (bytes) => bytes.reduce((number, byte) => number << 8n | BigInt(byte), 0n);
const widthOf = (size) => Math.ceil((size - 1n).toString(16).length / 2);

// A number as bytes, the highest one first.
function integer(number, width) {
  return Uint8Array.from({ length: width }, (_, at) => Number((number >> BigInt(8 * (width - 1 - at))) & 255n));
}
