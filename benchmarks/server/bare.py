"""A server with one route of FastAPI that shows as many bytes as `python bare.py BYTES` says; it says where it is."""

import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI, Response
from pydantic import BaseModel

app = FastAPI()


class Ask(BaseModel):
    """Any query."""

    sql: str


@app.post("/ask")
def ask(_: Ask) -> Response:
    """The same bytes for everybody."""
    return Response(b"x" * app.state.size, media_type="application/json")


def serve(size: int, **options: Any) -> None:
    """Listen on any port."""
    app.state.size = size
    bound = socket.create_server(("127.0.0.1", 0))
    with socket.socket(fileno=bound.detach()) as listening:  # known to be TCP, so that small writes wait for nothing
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, **options)).run(sockets=[listening])


if __name__ == "__main__":
    serve(int(sys.argv[1]), http="h11")
