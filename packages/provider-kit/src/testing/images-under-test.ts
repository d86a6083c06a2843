import type { ServerResponse } from "node:http";
import type { JsonObject } from "@loopwright/core";
import type { ImageGenerator } from "@loopwright/core/ports";
import { type ImageFate, type ImagesUnderTest, samplePng } from "@loopwright/testing";
import { type Asked, loopbackServer } from "./loopback-server.ts";

/** The wire format of a vendor of pictures. */
export interface ImageWire {
  /** The prompt of a request. */
  promptOf(body: JsonObject): string;
  /** Why the real vendor would refuse the request; `undefined` where it would not. The request is then answered with 400. */
  refusalOf(asked: Asked): string | undefined;
  /** A good answer with a picture in base64. Without `tokens` it reports no usage. */
  answerOf(base64: string, tokens?: { readonly input: number; readonly output: number }): unknown;
  /** Status and body where a filter declines. */
  filtered(prompt: string): readonly [number, unknown];
  /** The body of an error with this status. */
  errorOf(status: number, message: string): unknown;
}

/** A test of one adapter. */
export interface ImageTrial {
  /** Makes the adapter against a server at `origin`, with the key `key`. */
  make(server: { readonly origin: string; readonly key: string }): ImageGenerator;
  readonly wire: ImageWire;
}

/** The `make` for `imageGeneratorKit`, and what its servers were asked. */
export interface ImageTrials extends AsyncDisposable {
  readonly make: () => Promise<ImagesUnderTest>;
  /** Of all servers, oldest first. */
  readonly asked: () => readonly Asked[];
}

const key = "images-key-0123456789";
const tokens = { input: 7, output: 1_290 };

/** The `make` for `imageGeneratorKit` of `@loopwright/testing`: your adapter against your vendor's wire on a loopback server. */
export function imagesUnderTest({ make, wire }: ImageTrial): ImageTrials {
  const servers: Awaited<ReturnType<typeof loopbackServer>>[] = [];
  return {
    asked: () => servers.flatMap(({ asked }) => asked),
    make: async () => {
      const vendor = new FakeVendor(wire);
      const server = await loopbackServer((response, asked) => vendor.answer(response, asked));
      servers.push(server);
      return {
        generator: make({ origin: server.origin, key }),
        prompts: () => server.asked.map(({ body }) => wire.promptOf(body)),
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
  readonly fates: ImageFate[] = [];
  readonly #wire: ImageWire;
  tokens = 0;
  hangUps = 0;

  constructor(wire: ImageWire) {
    this.#wire = wire;
  }

  answer(response: ServerResponse, asked: Asked): void {
    const refusal = this.#wire.refusalOf(asked);
    if (refusal !== undefined) send(response, [400, this.#wire.errorOf(400, refusal)]);
    else if (this.fates[0] === "silence") {
      this.fates.shift();
      response.once("close", () => this.hangUps++);
    } else send(response, this.#replyTo(this.#wire.promptOf(asked.body)));
  }

  /** Status and body. */
  #replyTo(prompt: string): readonly [number, unknown] {
    const wire = this.#wire;
    switch (this.fates.shift()) {
      case "rate limited":
        return [429, wire.errorOf(429, "Rate limit reached.")];
      case "key refused":
        return [401, wire.errorOf(401, `Incorrect API key provided: ${key}. Prompt: ${prompt}.`)];
      case "filtered":
        return wire.filtered(prompt);
      case "no JSON":
        return [200, undefined];
      case "no picture":
        return [200, { object: "something else" }];
      case "other bytes":
        return [200, wire.answerOf(btoa("<svg onload='alert(1)'/>"), tokens)];
      case "no usage":
        return [200, wire.answerOf(samplePng.base64)];
    }
    this.tokens += tokens.input + tokens.output;
    return [200, wire.answerOf(samplePng.base64, tokens)];
  }
}

function send(response: ServerResponse, [status, body]: readonly [number, unknown]): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body === undefined ? "not quite JSON" : JSON.stringify(body));
}
