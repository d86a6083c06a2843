import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { seededRandom } from "@loopwright/core/memory";
import { ProxyFlow } from "./proxy-flow.ts";
import { resetSocket } from "./reset-socket.ts";
import type { Toxics } from "./toxics.ts";

export interface FaultyProxyOptions {
  /** Where good bytes go. */
  readonly target: { readonly host?: string; readonly port: number };
  /** Of everything that chance decides: the n-th connection meets the same fate for the same bytes. Default 1. */
  readonly seed?: number;
  readonly toxics?: Toxics;
}

/** A line between a client and a server that can be made bad at any time. Listens on 127.0.0.1. */
export interface FaultyProxy {
  readonly host: string;
  readonly port: number;
  /** What has happened so far. */
  readonly counts: { readonly connections: number; readonly swallowed: number; readonly cut: number };
  /** How many connections are open. */
  readonly openCount: number;
  /** What is wrong from now on, for open connections too. Without toxics the line is good again, and what was held back arrives. */
  infect(toxics?: Toxics): void;
  /** Swallows the next piece from the server, whatever connection it is on: the request was executed, its reply is lost, the connection cut. */
  swallowNext(): void;
  /** Cuts every open connection now. */
  cut(by?: "end" | "reset"): void;
  close(): Promise<void>;
}

/** A TCP proxy with faults from a seed. */
export async function faultyProxy(options: FaultyProxyOptions): Promise<FaultyProxy> {
  const proxy = new TcpProxy(options);
  await proxy.listen();
  return proxy;
}

class TcpProxy implements FaultyProxy {
  readonly host = "127.0.0.1";
  readonly counts = { connections: 0, swallowed: 0, cut: 0 };
  readonly #options: FaultyProxyOptions;
  readonly #server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
  readonly #lines = new Set<Line>();
  #toxics: Toxics;
  #swallowsNext = false;

  constructor(options: FaultyProxyOptions) {
    this.#options = options;
    this.#toxics = options.toxics ?? {};
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, this.host, resolve);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openCount(): number {
    return this.#lines.size;
  }

  infect(toxics: Toxics = {}): void {
    this.#toxics = toxics;
    for (const line of this.#lines) line.wake();
  }

  swallowNext(): void {
    this.#swallowsNext = true;
  }

  cut(by?: "end" | "reset"): void {
    for (const line of [...this.#lines]) this.#cutLine(line, by ?? this.#toxics.cutBy);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const line of [...this.#lines]) line.end("reset");
    await closed;
  }

  #accept(client: Socket): void {
    const { target, seed = 1 } = this.#options;
    const number = this.counts.connections++;
    if (this.#toxics.isRefusing) {
      client.on("error", () => {});
      resetSocket(client);
      return;
    }
    const random = seededRandom(seed + number * 7_919);
    const line: Line = lineOf({
      client,
      server: connect({ host: target.host ?? "127.0.0.1", port: target.port, allowHalfOpen: true, noDelay: true }),
      random,
      toxics: () => this.#toxics,
      isSwallowed: () => this.#isSwallowed(random),
      cut: () => this.#cutLine(line, this.#toxics.cutBy),
      gone: () => this.#lines.delete(line),
    });
    this.#lines.add(line);
  }

  #isSwallowed(random: () => number): boolean {
    const { swallowChance = 0 } = this.#toxics;
    if (!this.#swallowsNext && (swallowChance === 0 || random() >= swallowChance)) return false;
    this.#swallowsNext = false;
    this.counts.swallowed++;
    return true;
  }

  #cutLine(line: Line, by: "end" | "reset" = "end"): void {
    this.counts.cut++;
    line.end(by);
  }
}

interface Line {
  wake(): void;
  end(by: "end" | "reset"): void;
}

interface LineOptions {
  readonly client: Socket;
  readonly server: Socket;
  readonly random: () => number;
  readonly toxics: () => Toxics;
  readonly isSwallowed: () => boolean;
  readonly cut: () => void;
  readonly gone: () => void;
}

/** Both directions of one connection. */
function lineOf({ client, server, random, toxics, isSwallowed, cut, gone }: LineOptions): Line {
  const flows = [
    new ProxyFlow({ from: client, to: server, random, cut, toxics: () => toxics().toServer ?? {}, isSwallowed: () => false }),
    new ProxyFlow({ from: server, to: client, random, cut, toxics: () => toxics().toClient ?? {}, isSwallowed }),
  ];
  const end = (by: "end" | "reset"): void => {
    gone();
    for (const flow of flows) flow.stop();
    // The server sees the end at once; replies to what it still executes are lost.
    server.destroy();
    if (by === "reset") resetSocket(client);
    else client.destroySoon();
  };
  for (const socket of [client, server]) {
    socket.on("error", () => end("reset"));
    socket.on("close", () => {
      if (client.destroyed && server.destroyed) gone();
    });
  }
  return {
    wake: () => {
      for (const flow of flows) flow.wake();
    },
    end,
  };
}
