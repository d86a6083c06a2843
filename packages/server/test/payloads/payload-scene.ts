import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import type { Problem } from "@loopwright/core/protocol";
import { bearerTokens, type ServerOptions } from "@loopwright/server";
import { type ListenOptions, listen } from "@loopwright/server/node";
import { onTestFinished } from "vitest";
import type { ServeOptions } from "../serve.ts";
import { type TestServer, testServer } from "../test-server.ts";

/** A store that writes down what is asked of it beside reading. */
export interface WatchedStore {
  readonly store: SessionStore;
  /** Everything that was to be kept, in order. */
  readonly writes: readonly string[];
}

function watchedStore(inner: SessionStore = memoryStore()): WatchedStore {
  const writes: string[] = [];
  const { log, blobs } = inner;
  const store: SessionStore = {
    ...inner,
    log: {
      ...log,
      append(ref, request) {
        writes.push(...request.facts.map(({ type }) => `${ref.scope}/${ref.session} ${type}`));
        return log.append(ref, request);
      },
      remove(ref) {
        writes.push(`${ref.scope}/${ref.session} removed`);
        return log.remove(ref);
      },
    },
    blobs: {
      ...blobs,
      put(scope, key, blob) {
        writes.push(`${scope}/${key} blob`);
        return blobs.put(scope, key, blob);
      },
    },
  };
  return { store, writes };
}

/** A server behind a port of loopback, and without it. */
export interface PayloadScene extends TestServer, WatchedStore {
  readonly port: number;
  /** With a slash at its end. */
  readonly url: string;
}

/** Ends with the test. */
export async function payloadScene(options: Partial<ServeOptions> = {}, how: ListenOptions = {}): Promise<PayloadScene> {
  const watched = watchedStore(options.store);
  const test = testServer({ ...options, store: watched.store });
  const listening = await listen(test.server, how);
  onTestFinished(async () => {
    await test.server.close();
    await listening.close();
  });
  return { ...test, ...watched, port: Number(new URL(listening.url).port), url: listening.url };
}

export const annesToken = "anne-0123456789abcdef";
export const bensToken = "ben-0123456789abcdef0";
export const strayToken = "stray-0123456789abcde";

/** Two people of two scopes, and one of none. */
export const people: NonNullable<ServerOptions["authenticate"]> = bearerTokens({
  [annesToken]: { user: "anne", scope: "garden" },
  [bensToken]: { user: "ben", scope: "kitchen" },
  [strayToken]: { user: "stray", scope: "" },
});

export const bearer = (token: string): { readonly Authorization: string } => ({ Authorization: `Bearer ${token}` });

/** The problem document of an answer. Throws where it is none. */
export function problemIn(answer: string): Problem {
  const [head = "", body = ""] = answer.split("\r\n\r\n", 2);
  if (!/^content-type: application\/problem\+json$/im.test(head)) throw new Error(`No problem document: ${answer.slice(0, 500)}`);
  return JSON.parse(body) as Problem;
}
