import { AgentError, isAgentError } from "@loopwright/core";
import type { GeneratedImage, ImageGenerator, ImageRequest } from "@loopwright/core/ports";
import { type ImageFate, type ImagesUnderTest, samplePng } from "../../src/image/image-generator-kit.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";

const key = "key-of-the-kit";

interface Vendor {
  readonly prompts: string[];
  readonly fates: ImageFate[];
  tokens: number;
  hangUps: number;
}

type Io = { readonly signal: AbortSignal };
type Generate = ImageGenerator["generate"];

/** One request to a vendor in memory. */
async function ask(vendor: Vendor, { prompt }: ImageRequest, { signal }: Io): Promise<GeneratedImage> {
  vendor.prompts.push(prompt);
  const fate = vendor.fates.shift();
  switch (fate) {
    case "rate limited":
      throw new AgentError("MODEL_RATE_LIMITED", { message: "Too fast." });
    case "key refused":
      throw new AgentError("MODEL_AUTH", { message: "The key was refused." });
    case "filtered":
      throw new AgentError("MODEL_REFUSED", { message: "The filter declined." });
    case "silence":
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          vendor.hangUps++;
          reject(signal.reason);
        }),
      );
    case "no JSON":
    case "no picture":
    case "other bytes":
      throw new AgentError("MODEL_PROTOCOL", { message: "The vendor sent no picture." });
  }
  const image = { bytes: samplePng.bytes.slice(), mediaType: "image/png" } as const;
  if (fate === "no usage") return image;
  vendor.tokens += 12;
  return { ...image, usage: { input: 2, output: 10 } };
}

async function honest(vendor: Vendor, request: ImageRequest, io: Io): Promise<GeneratedImage> {
  io.signal.throwIfAborted();
  if (request.prompt.trim() === "") throw new AgentError("INPUT_INVALID", { message: "The prompt is blank." });
  return ask(vendor, request, io);
}

const under =
  (spoil: (generate: Generate, vendor: Vendor) => Generate = (generate) => generate) =>
  async (): Promise<ImagesUnderTest> => {
    const vendor: Vendor = { prompts: [], fates: [], tokens: 0, hangUps: 0 };
    const generate = spoil((request, io) => honest(vendor, request, io), vendor);
    return {
      generator: { name: "honest", model: "pixel", generate },
      prompts: () => vendor.prompts,
      tokens: () => vendor.tokens,
      next: (fate) => void vendor.fates.push(fate),
      hangUps: () => vendor.hangUps,
      secret: key,
      patienceMs: 20,
    };
  };

/** An honest image generator for the kit. */
export const makePixelGenerator: () => Promise<ImagesUnderTest> = under();

const changed = (change: (image: GeneratedImage) => GeneratedImage) =>
  under((generate) => async (request, io) => change(await generate(request, io)));

const asked = (change: (request: ImageRequest) => ImageRequest) => under((generate) => (request, io) => generate(change(request), io));

const rethrown = (change: (error: AgentError, request: ImageRequest) => Error) =>
  under(
    (generate) => (request, io) =>
      generate(request, io).catch((error: unknown) => {
        throw isAgentError(error) && error.code.startsWith("MODEL_") ? change(error, request) : error;
      }),
  );

/** Defects of image generators. */
export const imageGeneratorSaboteurs: readonly Saboteur<ImagesUnderTest>[] = [
  {
    defect: "loses the last byte",
    breaks: ["bytes"],
    make: changed((image) => ({ ...image, bytes: image.bytes.slice(0, -1) })),
  },
  {
    defect: "names another media type",
    breaks: ["bytes", "abort"],
    make: changed((image) => ({ ...image, mediaType: "image/jpeg" })),
  },
  {
    defect: "trims the prompt to one line",
    breaks: ["prompt"],
    make: asked(({ prompt, ...rest }) => ({ ...rest, prompt: prompt.replace("\n", " ") })),
  },
  {
    defect: "asks twice for a landscape",
    breaks: ["prompt"],
    make: under((generate) => async (request, io) => {
      if (request.shape === "landscape") await generate(request, io);
      return generate(request, io);
    }),
  },
  {
    defect: "draws something for a blank prompt",
    breaks: ["blank"],
    make: asked((request) => (request.prompt.trim() === "" ? { ...request, prompt: "anything" } : request)),
  },
  {
    defect: "reports 0 tokens where the vendor reports none",
    breaks: ["usage"],
    make: changed((image) => ({ usage: { input: 0 }, ...image })),
  },
  {
    defect: "reports what was read alone",
    breaks: ["usage"],
    make: changed(({ usage, ...image }) => (usage ? { ...image, usage: { input: 2 } } : image)),
  },
  {
    defect: "looks at the signal after the request",
    breaks: ["aborted"],
    make: under((generate) => async (request, io) => {
      const image = await generate(request, { signal: io.signal.aborted ? new AbortController().signal : io.signal });
      io.signal.throwIfAborted();
      return image;
    }),
  },
  {
    defect: "leaves the request open after an abort",
    breaks: ["abort"],
    make: under((generate) => async (request, io) => {
      io.signal.throwIfAborted();
      const aborted = new Promise<never>((_, reject) => io.signal.addEventListener("abort", () => reject(io.signal.reason)));
      return Promise.race([generate(request, new AbortController()), aborted]);
    }),
  },
  {
    defect: "throws the vendor's own error",
    breaks: ["errors", "protocol"],
    make: rethrown((error) => new Error(error.message)),
  },
  {
    defect: "shows the prompt in its errors",
    breaks: ["errors", "protocol"],
    make: rethrown(({ code }, { prompt }) => new AgentError(code, { message: `Failed for ${prompt}.` })),
  },
  {
    defect: "shows the key in the error about it",
    breaks: ["errors"],
    make: rethrown((error) => (error.code === "MODEL_AUTH" ? new AgentError("MODEL_AUTH", { message: `Wrong: ${key}.` }) : error)),
  },
  {
    defect: "tries again by itself",
    breaks: ["errors", "protocol"],
    make: under((generate, vendor) => async (request, io) => {
      const again = vendor.fates[0];
      return generate(request, io).catch(async (error: unknown) => {
        if (!isAgentError(error) || again === undefined || again === "silence") throw error;
        vendor.fates.push(again);
        return generate(request, io);
      });
    }),
  },
  {
    defect: "gives an empty picture where the vendor sent none",
    breaks: ["protocol"],
    make: under(
      (generate) => (request, io) =>
        generate(request, io).catch((error: unknown) => {
          if (!isAgentError(error, "MODEL_PROTOCOL")) throw error;
          return { bytes: new Uint8Array(), mediaType: "image/png" };
        }),
    ),
  },
];
