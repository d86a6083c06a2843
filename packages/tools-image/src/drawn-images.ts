import { AgentError } from "@loopwright/core";
import type { ImageGenerator, ImageRequest } from "@loopwright/core/ports";
import { pngOf } from "./png.ts";

const sizes: { readonly [Shape in NonNullable<ImageRequest["shape"]>]: readonly [width: number, height: number] } = {
  square: [64, 64],
  landscape: [96, 64],
  portrait: [64, 96],
};

/**
 * A generator without a network, for tests and demonstrations: a small PNG with colours drawn from the letters of the prompt. The same prompt gives the
 * same bytes.
 */
export function drawnImages(): ImageGenerator {
  return {
    name: "drawn",
    model: "colours",
    async generate({ prompt, shape = "square" }, { signal }) {
      signal.throwIfAborted();
      if (prompt.trim() === "") throw new AgentError("INPUT_INVALID", { message: "The prompt of a picture is blank." });
      const [width, height] = sizes[shape];
      const seed = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(prompt)));
      const bytes = await pngOf({ width, height, colourAt: (x, y) => colourAt(seed, [x / width, y / height]) });
      signal.throwIfAborted();
      return { bytes, mediaType: "image/png" };
    },
  };
}

/** Two colours of the seed that run into each other, under a disc of a third. */
function colourAt(seed: Uint8Array, [x, y]: readonly [number, number]): readonly [number, number, number] {
  const byte = (at: number): number => seed[at] ?? 0;
  const colour = (at: number): readonly [number, number, number] => [byte(at), byte(at + 1), byte(at + 2)];
  const inDisc = Math.hypot(x - 0.25 - byte(9) / 512, y - 0.25 - byte(10) / 512) < 0.15 + byte(11) / 1_700;
  if (inDisc) return colour(6);
  const [from, to] = [colour(0), colour(3)];
  const mixed = (at: 0 | 1 | 2): number => Math.round(from[at] * (1 - y) + to[at] * y);
  return [mixed(0), mixed(1), mixed(2)];
}
