import type { ModelCapabilities } from "@loopwright/core/ports";

/** The model of an instance that names none: small enough for most machines, calls tools and thinks. @see https://ollama.com/library/qwen3 (2026-11-21) */
export const defaultModel = "qwen3:4b";

/**
 * Families that see images, by the beginning of their name. The server knows better (`POST /api/show`), but only when asked;
 * for a model that is missing here pass `capabilities: { vision: true }`.
 * @see https://ollama.com/blog/multimodal-models (2026-11-21)
 */
const visionFamilies: readonly string[] = [
  "llava",
  "bakllava",
  "llama3.2-vision",
  "llama4",
  "gemma3",
  "gemma4",
  "qwen2.5vl",
  "qwen3-vl",
  "mistral-small3.1",
  "mistral-small3.2",
  "minicpm-v",
  "moondream",
  "granite3.2-vision",
];

/** Sizes of those that are text only. */
const blind: readonly string[] = ["gemma3:1b", "gemma3:270m", "gemma3n"];

/** Families that the server refuses tools for: "does not support tools". */
const toolless: readonly string[] = [
  "llama2",
  "llama3",
  "codellama",
  "gemma",
  "gemma2",
  "gemma3",
  "gemma3n",
  "phi3",
  "llava",
  "bakllava",
  "moondream",
];

/** The capabilities of a model, guessed from its name. */
export function capabilitiesOf(name: string, overrides: Partial<ModelCapabilities> = {}): ModelCapabilities {
  const model = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const family = model.replace(/:.*$/, "");
  const sees = visionFamilies.some((prefix) => family.startsWith(prefix)) && !blind.some((prefix) => model.startsWith(prefix));
  return { streaming: true, tools: !toolless.includes(family), vision: sees, files: [], promptCaching: true, ...overrides };
}

/** Whether the model's thinking has levels instead of a switch. @see https://docs.ollama.com/capabilities/thinking (2026-11-21) */
export function hasThinkingLevels(name: string): boolean {
  return name.slice(name.lastIndexOf("/") + 1).startsWith("gpt-oss");
}
