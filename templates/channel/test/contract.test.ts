import { connect, createServer, type Socket } from "node:net";
import { eventChannelKit, runKit } from "@loopwright/testing";
import { afterEach, describe, it } from "vitest";
import { acmeChannel, startHub } from "../src/index.ts";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function closedLater<Closable extends { close(): Promise<unknown> }>(closable: Closable): Closable {
  closing.push(() => closable.close());
  return closable;
}

/** A connection to a port that can be cut: what is connected is closed, and new connections are refused until it is mended. */
async function cuttable(target: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(target, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => {
      isCut = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

async function make() {
  const hub = closedLater(await startHub());
  const line = closedLater(await cuttable(hub.port));
  const channel = closedLater(acmeChannel({ port: hub.port }));
  const secondNode = closedLater(acmeChannel({ port: line.port }));
  return {
    channel,
    secondNode,
    patienceMs: 5_000,
    async cut(act: () => void | Promise<void>) {
      line.cut();
      await act();
      // The hub passes messages on in order: what `act` sent is through when this is.
      const probe = closedLater(acmeChannel({ port: hub.port }));
      const ref = { scope: "probe", session: "probe" };
      await new Promise<void>((through) => {
        probe.subscribe(ref, () => through(), {
          gap: () => channel.publish(ref, [{ type: "text_start", lane: 1, n: 1, index: 0 }]),
        });
      });
      line.mend();
    },
  };
}

describe("the channel", () => runKit(it, eventChannelKit, { make }));
