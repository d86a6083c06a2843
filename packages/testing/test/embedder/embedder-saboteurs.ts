import { AgentError, isAgentError } from "@loopwright/core";
import type { Embedder, Embeddings, EmbedRequest } from "@loopwright/core/ports";
import type { EmbedderFate, EmbedderUnderTest } from "../../src/embedder/embedder-kit.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";

const textsMax = 4;
const key = "key-of-the-kit";

interface Vendor {
  readonly counts: number[];
  readonly fates: EmbedderFate[];
  tokens: number;
  hangUps: number;
}

type Io = { readonly signal: AbortSignal };
type Embed = Embedder["embed"];

const vectorOf = (text: string): readonly number[] =>
  Array.from(
    { length: 8 },
    (_, at) => [...text].reduce((sum, letter, place) => sum + ((letter.charCodeAt(0) * (place + at)) % 17), 0) / 100,
  );

const protocol = (): AgentError => new AgentError("MODEL_PROTOCOL", { message: "The vendor sent other vectors." });

/** One request of an embedder to a vendor in memory. */
async function ask(vendor: Vendor, texts: readonly string[], { signal }: Io): Promise<Embeddings> {
  vendor.counts.push(texts.length);
  const fate = vendor.fates.shift();
  switch (fate) {
    case "rate limited":
      throw new AgentError("MODEL_RATE_LIMITED", { message: "Too fast." });
    case "key refused":
      throw new AgentError("MODEL_AUTH", { message: "The key was refused." });
    case "silence":
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          vendor.hangUps++;
          reject(signal.reason);
        }),
      );
    case "no JSON":
    case "no vectors":
    case "too few":
    case "uneven":
      throw protocol();
  }
  const vectors = texts.map(vectorOf);
  if (fate === "no usage") return { vectors };
  const input = texts.join(" ").split(" ").length;
  vendor.tokens += input;
  return { vectors, usage: { input } };
}

async function honest(vendor: Vendor, { texts }: EmbedRequest, io: Io): Promise<Embeddings> {
  io.signal.throwIfAborted();
  if (texts.some((text) => text.trim() === "")) throw new AgentError("INPUT_INVALID", { message: "A text is blank." });
  const vectors: (readonly number[])[] = [];
  let input: number | undefined;
  for (let at = 0; at < texts.length; at += textsMax) {
    const answer = await ask(vendor, texts.slice(at, at + textsMax), io);
    vectors.push(...answer.vectors);
    if (answer.usage?.input !== undefined) input = (input ?? 0) + answer.usage.input;
  }
  return { vectors, ...(input === undefined ? {} : { usage: { input } }) };
}

type Spoil = (embed: Embed, vendor: Vendor) => Embed;

const under =
  (spoil: Spoil = (embed) => embed) =>
  async (): Promise<EmbedderUnderTest> => {
    const vendor: Vendor = { counts: [], fates: [], tokens: 0, hangUps: 0 };
    const embed = spoil((request, io) => honest(vendor, request, io), vendor);
    return {
      embedder: { name: "honest", model: "letters", embed },
      textsMax,
      requests: () => vendor.counts,
      tokens: () => vendor.tokens,
      next: (fate) => void vendor.fates.push(fate),
      hangUps: () => vendor.hangUps,
      secret: key,
      patienceMs: 20,
    };
  };

/** An honest embedder for the kit. */
export const makeLetterEmbedder: () => Promise<EmbedderUnderTest> = under();

const changed = (change: (vectors: Embeddings["vectors"], request: EmbedRequest) => Embeddings["vectors"]) =>
  under((embed) => async (request, io) => {
    const answer = await embed(request, io);
    return { ...answer, vectors: change(answer.vectors, request) };
  });

const rethrown = (change: (error: AgentError, request: EmbedRequest) => Error) =>
  under(
    (embed) => (request, io) =>
      embed(request, io).catch((error: unknown) => {
        throw isAgentError(error) && error.code.startsWith("MODEL_") ? change(error, request) : error;
      }),
  );

/** Defects of embedders. */
export const embedderSaboteurs: readonly Saboteur<EmbedderUnderTest>[] = [
  {
    defect: "has longer vectors for queries",
    breaks: ["length"],
    make: changed((vectors, { purpose }) => (purpose === "query" ? vectors.map((each) => [...each, 0]) : vectors)),
  },
  {
    defect: "gives what is no number",
    breaks: ["length", "order"],
    make: changed((vectors) => vectors.map((each) => [Number.NaN, ...each.slice(1)])),
  },
  { defect: "turns the order round", breaks: ["order"], make: changed((vectors) => vectors.toReversed()) },
  {
    defect: "sends everything in one request",
    breaks: ["batches"],
    make: under((embed, vendor) => async (request, io) => {
      const before = vendor.counts.length;
      const answer = await embed(request, io);
      const sent = vendor.counts.splice(before);
      vendor.counts.push(...(sent.length === 0 ? [] : [sent.reduce((sum, count) => sum + count, 0)]));
      return answer;
    }),
  },
  {
    defect: "sends a text a second time",
    breaks: ["batches", "usage"],
    make: under((embed, vendor) => async (request, io) => {
      const answer = await embed(request, io);
      if (request.texts.length > textsMax) await ask(vendor, request.texts.slice(0, 1), io);
      return answer;
    }),
  },
  {
    defect: "asks the vendor about no text",
    breaks: ["empty"],
    make: under((embed, vendor) => async (request, io) => {
      if (request.texts.length === 0) vendor.counts.push(0);
      return embed(request, io);
    }),
  },
  {
    defect: "leaves blank texts out",
    breaks: ["blank"],
    make: under((embed) => (request, io) => embed({ ...request, texts: request.texts.filter((text) => text.trim() !== "") }, io)),
  },
  {
    defect: "reports 0 tokens where the vendor reports none",
    breaks: ["usage"],
    make: under((embed) => async (request, io) => ({ usage: { input: 0 }, ...(await embed(request, io)) })),
  },
  {
    defect: "reports the usage of the last request alone",
    breaks: ["usage"],
    make: under((embed) => async (request, io) => {
      const { usage, ...rest } = await embed(request, io);
      return usage ? { ...rest, usage: { input: Math.min(usage.input ?? 0, 9) } } : rest;
    }),
  },
  {
    defect: "looks at the signal after the request",
    breaks: ["aborted"],
    make: under((embed) => async (request, io) => {
      const answer = await embed(request, { signal: io.signal.aborted ? new AbortController().signal : io.signal });
      io.signal.throwIfAborted();
      return answer;
    }),
  },
  {
    defect: "leaves the request open after an abort",
    breaks: ["abort"],
    make: under((embed) => async (request, io) => {
      const own = new AbortController();
      const aborted = new Promise<never>((_, reject) => io.signal.addEventListener("abort", () => reject(io.signal.reason)));
      io.signal.throwIfAborted();
      return Promise.race([embed(request, own), aborted]);
    }),
  },
  {
    defect: "throws the vendor's own error",
    breaks: ["errors", "protocol"],
    make: rethrown((error) => new Error(error.message)),
  },
  {
    defect: "shows the text in its errors",
    breaks: ["errors", "protocol"],
    make: rethrown(({ code }, { texts }) => new AgentError(code, { message: `Failed for ${texts.join()}.` })),
  },
  {
    defect: "shows the key in the error about it",
    breaks: ["errors"],
    make: rethrown((error) => (error.code === "MODEL_AUTH" ? new AgentError("MODEL_AUTH", { message: `Wrong: ${key}.` }) : error)),
  },
  {
    defect: "tries again by itself",
    breaks: ["errors", "protocol"],
    make: under((embed, vendor) => async (request, io) => {
      const again = vendor.fates[0];
      return embed(request, io).catch(async (error: unknown) => {
        if (!isAgentError(error) || again === undefined || again === "silence") throw error;
        vendor.fates.push(again);
        return embed(request, io);
      });
    }),
  },
  {
    defect: "fills up what the vendor left out",
    breaks: ["protocol"],
    make: under(
      (embed) => (request, io) =>
        embed(request, io).catch((error: unknown) => {
          if (!isAgentError(error, "MODEL_PROTOCOL")) throw error;
          return { vectors: request.texts.map(vectorOf) };
        }),
    ),
  },
];
