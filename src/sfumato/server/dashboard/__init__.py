"""The pages that people see in a browser: the same functions as the REST interface, for whoever has signed in.

`visits` finds out who looks at a page, `rendering` makes it, and each other module has the pages of one subject. Pages
call the functions of routes in `sfumato.server.gateway` and have no way of their own to what these guard.
"""
