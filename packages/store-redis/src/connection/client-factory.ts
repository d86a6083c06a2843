import { AgentError, isAgentError } from "@loopwright/core";
import { startDeadline, systemClock } from "@loopwright/core/memory";
import type { Logger } from "@loopwright/core/ports";
import {
  ErrorReply,
  RedisClient,
  type RedisClientOptions,
  type RedisClientType,
  type RedisFunctions,
  type RedisModules,
  type RedisScripts,
  type RespVersions,
  type TypeMapping,
} from "@redis/client";
import { faultOf, refusalOf, unavailable } from "./redis-fault.ts";
import { checkServer, type Durability } from "./startup-checks.ts";

/** The vendor's client, for one connection. */
export type Client = RedisClientType<RedisModules, RedisFunctions, RedisScripts, 3, TypeMapping>;

/** Where and how a store connects. */
export interface Target {
  readonly url?: string;
  readonly clientOptions?: RedisClientOptions;
  readonly durability: Durability;
  readonly deadlineMs: number;
  readonly logger: Logger;
}

/** By how much the library waits longer for a connection: its timer counts time in which the process was blocked, the deadline does not. */
const connectGraceMs = 5_000;

/** Makes connections, and judges the servers at their other end. */
export interface ClientFactory {
  /** `host:port`, without user and password. */
  readonly where: string;
  /** A client that is not connected and will not connect again by itself. */
  make(): Client;
  /** Connects and checks the server; the caller disposes of a client that failed. @throws AgentError, or what the client throws */
  open(client: Client, deadlineMs: number): Promise<void>;
  /** What failed, as an error of ours, without a secret. */
  faultOf(error: Error): AgentError;
}

/** @throws AgentError CONFIG_INVALID when the address cannot be understood. */
export function clientFactory(target: Target): ClientFactory {
  const where = placeOf(target);
  let hasNotified = false;
  const connect = async (client: Client): Promise<void> => {
    await client.connect();
    const { problem, unchecked } = checkServer(await infoOf(client), { where, durability: target.durability });
    if (problem) throw problem;
    if (unchecked.length === 0 || hasNotified) return;
    hasNotified = true;
    target.logger.log("warn", "Redis does not report its persistence settings: check that it keeps acknowledged writes", {
      where,
      unchecked: [...unchecked],
    });
  };
  return {
    where,
    make: () => makeClient(target),
    open: (client, deadlineMs) => within(deadlineMs, connect(client), where),
    faultOf(error) {
      if (isAgentError(error)) return error;
      if (error instanceof ErrorReply) return faultOf(refusalOf(error), where);
      const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
      return unavailable(where, `cannot be reached${code}`);
    },
  };
}

/** What makes clients, by the version of the protocol. */
const classes = new Map<RespVersions, ReturnType<typeof RedisClient.factory>>();

/**
 * As `createClient`, which makes a class with all commands of Redis again for each client whose options differ from the last: some 30 ms of CPU
 * for each connection. The store sends its commands as texts, so one class of each protocol version is enough.
 */
function newClient(options: RedisClientOptions): Client {
  const { RESP = 3 } = options;
  const known = classes.get(RESP) ?? RedisClient.factory({ RESP });
  classes.set(RESP, known);
  return known(options) as Client;
}

function makeClient({ url, clientOptions, deadlineMs }: Target): Client {
  const options: RedisClientOptions = {
    ...clientOptions,
    ...(url === undefined ? {} : { url }),
    // The library adds to the objects it is given.
    socket: { ...clientOptions?.socket, connectTimeout: deadlineMs + connectGraceMs, reconnectStrategy: false },
    disableOfflineQueue: true,
    // Deadlines are kept by the connection, over all of a command's way.
    commandOptions: { timeout: 0 },
    maintNotifications: "disabled",
    // One command less that a user has to be allowed.
    disableClientInfo: true,
  };
  const client = newClient(options);
  // Without a listener an error would end the process.
  client.on("error", () => {});
  // The library connects all the same where it was destroyed while it connected: such a connection would keep the process alive for ever.
  client.on("connect", () => {
    if (!client.isOpen) client.destroy();
  });
  return client;
}

/** Ends the client's connection whatever state it is in. */
export function dispose(client: Client): void {
  try {
    client.destroy();
  } catch {
    // It had ended already.
  }
}

/** Gives up on a server that accepts a connection and then sends nothing. */
async function within(deadlineMs: number, work: Promise<void>, where: string): Promise<void> {
  let cancel = (): void => {};
  const silence = new Promise<never>((_, reject) => {
    cancel = startDeadline(systemClock, { ms: deadlineMs }, () => reject(unavailable(where, `did not answer within ${deadlineMs} ms`)));
  });
  // Later errors of this client do not matter.
  work.catch(() => {});
  try {
    await Promise.race([work, silence]);
  } finally {
    cancel();
  }
}

/** The server's answer to INFO; `undefined` where its user has no right to ask. */
async function infoOf(client: Client): Promise<string | undefined> {
  try {
    return String(await client.sendCommand(["INFO"]));
  } catch (error) {
    if (error instanceof ErrorReply && ["NOPERM", "ERR"].includes(refusalOf(error).word)) return undefined;
    throw error;
  }
}

function placeOf({ url, clientOptions }: Target): string {
  const socket: { readonly host?: unknown; readonly port?: unknown; readonly path?: unknown } = clientOptions?.socket ?? {};
  if (url === undefined && clientOptions?.url === undefined)
    return typeof socket.path === "string" ? socket.path : `${String(socket.host ?? "localhost")}:${String(socket.port ?? 6379)}`;
  const address = URL.parse(url ?? clientOptions?.url ?? "");
  // The address itself is not shown: it may hold a password.
  if (!address || !["redis:", "rediss:", "unix:"].includes(address.protocol))
    throw new AgentError("CONFIG_INVALID", {
      message: "The address of the Redis store cannot be understood.",
      fix: "Write it as `redis://user:password@host:port/database` (`rediss:` for TLS), with special characters percent-encoded.",
    });
  return address.protocol === "unix:" ? address.pathname : `${address.hostname}:${address.port || "6379"}`;
}
