import { createServer } from "node:net";

/** Below what Linux gives to outgoing connections, so that no client's own port can take the place of a server that is away for a moment. */
const range = { from: 15_000, to: 32_000 } as const;
const tries = 50;

/** A port of 127.0.0.1 without a listener at this moment. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const port = range.from + Math.floor(Math.random() * (range.to - range.from));
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port of 127.0.0.1 between ${range.from} and ${range.to} in ${tries} tries.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
