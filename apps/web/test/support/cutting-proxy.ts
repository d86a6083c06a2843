import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut. */
export interface CuttingProxy {
  readonly url: string;
  /** Tears every connection, and the new ones too until `mend`. */
  cut(): void;
  mend(): void;
  /** Tears what is open; new connections work. */
  tear(): void;
  close(): Promise<void>;
}

/** A proxy in front of the server at this address. */
export async function cuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const watch = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
  };
  const server = createServer((near) => {
    watch(near);
    if (isCut) {
      near.destroy();
      return;
    }
    const far = watch(connect(Number(port), hostname));
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  const tear = (): void => {
    // One whose end was sent cannot be reset: Node.js would never close its handle.
    for (const socket of sockets) socket.writableEnded ? socket.destroy() : socket.resetAndDestroy();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    cut() {
      isCut = true;
      tear();
    },
    mend() {
      isCut = false;
    },
    tear,
    close() {
      tear();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
