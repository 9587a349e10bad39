"""The vocabulary everyone shares: neighbors, guarantees, events, secrets.

Frozen values, no algorithms: what an event costs is the business of `sfumato.accounting`, how noise is drawn that of
`sfumato.noise`.
"""
