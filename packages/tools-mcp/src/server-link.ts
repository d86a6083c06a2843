/*
 * Owns: the connection of one run to one server: opened when it is needed, closed with the run or when it is idle, opened again after a failure, later each
 * time. Does not own: what is connected (open-client), what the tools look like (offered-tool).
 */
import { isAgentError } from "@loopwright/core";
import type { Clock } from "@loopwright/core/ports";
import {
  type CallToolResult,
  type Client,
  type Progress,
  type Tool as ServerTool,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { mcpError, reasonOf } from "./mcp-error.ts";
import { openClient, type ServerOfUser } from "./open-client.ts";

export interface LinkOptions extends ServerOfUser {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** Counts a connection; false: there are too many. */
  take(): boolean;
  give(): void;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  onProgress(progress: Progress): void;
}

const waitFactorMax = 60;
const farewellMs = 1_000;

export class ServerLink {
  readonly #options: LinkOptions;
  #opening: Promise<Client> | undefined;
  #client: Client | undefined;
  #tools: readonly ServerTool[] | undefined;
  /** Counts announced changes: a list that was asked for before one is not kept. */
  #change = 0;
  #active = 0;
  #cancelIdle: () => void = () => {};
  #failures = 0;
  #notBefore = 0;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  /** Gives up the connection that is being made. */
  #giveUp: () => void = () => {};

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get redaction(): ServerOfUser["redaction"] {
    return this.#options.redaction;
  }

  /** The tools that the server lists now: asked again after it has announced a change, or was opened again. @throws AgentError */
  async tools(signal: AbortSignal): Promise<readonly ServerTool[]> {
    const { connectMs } = this.#options.limits;
    if (this.#client && this.#tools) return this.#tools;
    try {
      return await this.#use(signal, async (client) => {
        const change = this.#change;
        const { tools } = await client.listTools(undefined, { signal, timeout: connectMs, cacheMode: "refresh" });
        if (change === this.#change) this.#tools = tools;
        return tools;
      });
    } catch (error) {
      signal.throwIfAborted();
      throw isAgentError(error) ? error : mcpError(reasonOf(error), this.#options.name);
    }
  }

  /** @throws AgentError, and errors of the SDK whose text is the server's */
  call(name: string, args: Record<string, unknown>, { signal, timeoutMs, onProgress }: CallOptions): Promise<CallToolResult> {
    const options = { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs, onprogress: onProgress };
    return this.#use(signal, async (client) => {
      const toolDefinition = this.#tools?.find((tool) => tool.name === name);
      return client.callTool({ name, arguments: args }, { ...options, ...(toolDefinition ? { toolDefinition } : {}) });
    });
  }

  /** Ends the connection for good. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#giveUp();
    this.#closing ??= this.#drop();
    return this.#closing;
  }

  async #use<T>(signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.#active++;
    this.#cancelIdle();
    try {
      const client = await this.#open(signal);
      try {
        const result = await work(client);
        this.#failures = 0;
        return result;
      } catch (error) {
        signal.throwIfAborted();
        // What follows on a broken connection is asked on a new one.
        if (reasonOf(error) === "not_connected") await this.#drop();
        throw error;
      }
    } finally {
      this.#active--;
      if (this.#active === 0) this.#rest();
    }
  }

  async #open(signal: AbortSignal): Promise<Client> {
    if (this.#client) return this.#client;
    const { name, clock } = this.#options;
    if (this.#isClosed) throw mcpError("not_connected", name, ": the run has ended");
    if (clock.monotonic() < this.#notBefore) throw mcpError("not_connected", name, ", and is tried again in a moment");
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return untilAborted(this.#opening, signal);
  }

  async #connect(): Promise<Client> {
    const { name, limits, clock, take, give } = this.#options;
    if (!take()) throw mcpError("too_many_connections", name);
    const deadline = new AbortController();
    const cancel = clock.after(limits.connectMs, () => deadline.abort());
    this.#giveUp = () => deadline.abort();
    let isOpen = true;
    const onClose = (): void => {
      if (!isOpen) return;
      isOpen = false;
      give();
      this.#client = undefined;
      this.#tools = undefined;
    };
    try {
      const onChange = (): void => {
        this.#change++;
        this.#tools = undefined;
      };
      const client = await openClient(this.#options, { signal: deadline.signal, onChange, onClose });
      if (!isOpen) throw mcpError("not_connected", name);
      this.#client = client;
      if (this.#isClosed) {
        await this.#drop();
        throw mcpError("not_connected", name, ": the run has ended");
      }
      return client;
    } catch (error) {
      onClose();
      this.#failures++;
      this.#notBefore = clock.monotonic() + limits.retryMs * Math.min(waitFactorMax, 2 ** (this.#failures - 1));
      if (isAgentError(error)) throw error;
      throw mcpError(deadline.signal.aborted ? "timed_out" : reasonOf(error), name);
    } finally {
      cancel();
    }
  }

  #rest(): void {
    if (!this.#client) return;
    const { clock, limits } = this.#options;
    this.#cancelIdle = clock.after(limits.idleMs, () => void this.#drop(), { idle: true });
  }

  async #drop(): Promise<void> {
    this.#cancelIdle();
    const client = this.#client ?? (await this.#opening?.catch(() => undefined));
    this.#client = undefined;
    this.#tools = undefined;
    if (!client) return;
    await this.#endSession(client.transport);
    await client.close().catch(() => {});
  }

  /** Ends the session on a server that keeps sessions, without waiting long for it. */
  async #endSession(transport: unknown): Promise<void> {
    if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
    let cancel: () => void = () => {};
    const patience = new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(farewellMs, resolve);
    });
    await Promise.race([transport.terminateSession().catch(() => {}), patience]);
    cancel();
  }
}

/** Rejects as soon as the signal is aborted; the work is finished for others. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
