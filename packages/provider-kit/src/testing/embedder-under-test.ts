import type { ServerResponse } from "node:http";
import type { JsonObject } from "@loopwright/core";
import type { Embedder } from "@loopwright/core/ports";
import type { EmbedderFate, EmbedderUnderTest } from "@loopwright/testing";
import { type Asked, loopbackServer } from "./loopback-server.ts";

/** The wire format of a vendor of embeddings. */
export interface EmbedderWire {
  /** The texts of a request. */
  textsOf(body: JsonObject): readonly string[];
  /** Why the real vendor would refuse the request; `undefined` where it would not. The request is then answered with 400. */
  refusalOf(asked: Asked): string | undefined;
  /** A good answer. Without `tokens` it reports no usage. */
  answerOf(vectors: readonly (readonly number[])[], tokens?: number): unknown;
  /** The body of an error with this status. */
  errorOf(status: number, message: string): unknown;
}

/** A test of one adapter. */
export interface EmbedderTrial {
  /** Makes the adapter against a server at `origin`, with the key `key`. */
  make(server: { readonly origin: string; readonly key: string }): Embedder;
  readonly wire: EmbedderWire;
  /** Most texts that the adapter may send in one request. */
  readonly textsMax: number;
  /** Numbers of a vector. Default 24. */
  readonly dimensions?: number;
}

/** The `make` for `embedderKit`, and what its servers were asked. */
export interface EmbedderTrials extends AsyncDisposable {
  readonly make: () => Promise<EmbedderUnderTest>;
  /** Of all servers, oldest first. */
  readonly asked: () => readonly Asked[];
}

const key = "embedder-key-0123456789";

/** The `make` for `embedderKit` of `@loopwright/testing`: your adapter against your vendor's wire on a loopback server. */
export function embedderUnderTest(trial: EmbedderTrial): EmbedderTrials {
  const servers: Awaited<ReturnType<typeof loopbackServer>>[] = [];
  return {
    asked: () => servers.flatMap(({ asked }) => asked),
    make: async () => {
      const vendor = new FakeVendor(trial);
      const server = await loopbackServer((response, asked) => vendor.answer(response, asked));
      servers.push(server);
      return {
        embedder: trial.make({ origin: server.origin, key }),
        textsMax: trial.textsMax,
        requests: () => server.asked.map(({ body }) => trial.wire.textsOf(body).length),
        tokens: () => vendor.tokens,
        next: (fate) => void vendor.fates.push(fate),
        hangUps: () => vendor.hangUps,
        secret: key,
      };
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))),
  };
}

class FakeVendor {
  readonly fates: EmbedderFate[] = [];
  readonly #trial: EmbedderTrial;
  tokens = 0;
  hangUps = 0;

  constructor(trial: EmbedderTrial) {
    this.#trial = trial;
  }

  answer(response: ServerResponse, asked: Asked): void {
    const { wire } = this.#trial;
    const refusal = wire.refusalOf(asked);
    if (refusal !== undefined) send(response, [400, wire.errorOf(400, refusal)]);
    else if (this.fates[0] === "silence") {
      this.fates.shift();
      response.once("close", () => this.hangUps++);
    } else send(response, this.#replyTo(wire.textsOf(asked.body)));
  }

  /** Status and body. */
  #replyTo(texts: readonly string[]): readonly [number, unknown] {
    const { wire, dimensions = 24 } = this.#trial;
    const vectors = texts.map((text) => vectorOf(text, dimensions));
    switch (this.fates.shift()) {
      case "rate limited":
        return [429, wire.errorOf(429, "Rate limit reached.")];
      case "key refused":
        return [401, wire.errorOf(401, `Incorrect API key provided: ${key}. Texts: ${texts.join()}.`)];
      case "no JSON":
        return [200, undefined];
      case "no vectors":
        return [200, { object: "something else" }];
      case "too few":
        return [200, wire.answerOf(vectors.slice(1))];
      case "uneven":
        return [200, wire.answerOf(vectors.map((vector, at) => (at === vectors.length - 1 ? vector.slice(1) : vector)))];
      case "no usage":
        return [200, wire.answerOf(vectors)];
    }
    const tokens = texts.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
    this.tokens += tokens;
    return [200, wire.answerOf(vectors, tokens)];
  }
}

function send(response: ServerResponse, [status, body]: readonly [number, unknown]): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body === undefined ? "not quite JSON" : JSON.stringify(body));
}

/** A vector computed from the letters and their positions: the same text has the same vector. */
function vectorOf(text: string, dimensions: number): readonly number[] {
  const counts = Array.from({ length: dimensions }, () => 0);
  for (const [at, letter] of [...text].entries()) {
    const place = ((letter.codePointAt(0) ?? 0) + at) % dimensions;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  const size = Math.hypot(...counts);
  return counts.map((count) => count / size);
}
