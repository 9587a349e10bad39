// A certified provider of OpenID Connect: node provider.mjs PORT REDIRECT AFTER. People sign in by any password.
// Each line of standard input is a JSON object: the groups of a person from now on.
import { createInterface } from "node:readline";
import { Provider } from "oidc-provider";

const [port, redirect, after] = process.argv.slice(2);
const groups = {};
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: "sfumato", client_secret: "a secret of a test", redirect_uris: [redirect],
    post_logout_redirect_uris: [after], grant_types: ["authorization_code"], response_types: ["code"],
  }],
  claims: { openid: ["sub"], profile: ["name", "groups"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: `Name of ${id}`, groups: groups[id] ?? [] }) }),
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  cookies: { keys: ["a key of a test"] },
});
createInterface({ input: process.stdin }).on("line", (line) => { Object.assign(groups, JSON.parse(line)); console.log("set"); });
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
