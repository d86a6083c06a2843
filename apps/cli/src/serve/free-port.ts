import { createServer } from "node:net";
import { AgentError } from "@loopwright/core";

/** Ports that are tried, one after the other. */
const portsTried = 20;

/** Where to look for a port. */
export interface PortWish {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Only this one will do. */
  readonly isPortFixed: boolean;
}

/** The port itself or the next free one. @throws AgentError CONFIG_INVALID when it is fixed and taken, not allowed, or the host is none of this machine */
export async function freePort({ host, port, isPortFixed }: PortWish): Promise<number> {
  for (let tried = port; ; tried++) {
    const found = await listenOnce(host, tried);
    if (typeof found === "number") return found;
    if (found !== "EADDRINUSE") throw unusable({ host, port: tried }, found);
    if (isPortFixed || tried + 1 >= port + portsTried || tried === 65_535) throw taken(port, isPortFixed);
  }
}

/** The port that could be had, or the code of the error. */
function listenOnce(host: string, port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : port));
    });
  });
}

function taken(port: number, isPortFixed: boolean): AgentError {
  return new AgentError("CONFIG_INVALID", {
    message: isPortFixed
      ? `Port ${port} is taken by another program.`
      : `The ports ${port} to ${port + portsTried - 1} are taken by other programs.`,
    fix: "Pass another one with `--port`, or 0 for any free one.",
  });
}

function unusable({ host, port }: { readonly host: string; readonly port: number }, code: string): AgentError {
  if (code === "EACCES") {
    return new AgentError("CONFIG_INVALID", {
      message: `The system does not let this user listen on port ${port}.`,
      fix: "Pass a port from 1024 on with `--port`.",
    });
  }
  return new AgentError("CONFIG_INVALID", {
    message: `Nothing can listen on \`${host.slice(0, 80)}\` here (${code}).`,
    fix: "Pass an address of this machine with `--host`, such as 127.0.0.1 or 0.0.0.0.",
  });
}
