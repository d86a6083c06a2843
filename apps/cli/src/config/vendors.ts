/** A vendor of models as the command line knows it. */
export interface Vendor {
  readonly name: VendorName;
  readonly title: string;
  /** Key variables, the first one set counts. */
  readonly keys: readonly string[];
  /** Variables that choose this vendor beside its keys. */
  readonly signs: readonly string[];
  /** Why it is listed when nothing chooses it. */
  readonly note: string;
  /** It is no vendor: a program of one's own, or a stub. */
  readonly isExecutor?: true;
}

export type VendorName = "openai" | "anthropic" | "gemini" | "ollama" | "custom" | "executor" | "offline";

/** In the order in which a vendor is chosen by its variables. */
export const vendors: readonly Vendor[] = [
  { name: "openai", title: "OpenAI", keys: ["OPENAI_API_KEY"], signs: [], note: "" },
  { name: "anthropic", title: "Anthropic", keys: ["ANTHROPIC_API_KEY"], signs: [], note: "" },
  { name: "gemini", title: "Google Gemini", keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], signs: [], note: "" },
  { name: "ollama", title: "Ollama", keys: [], signs: ["OLLAMA_HOST"], note: "needs no key" },
  { name: "custom", title: "any OpenAI-compatible server", keys: ["LOOPWRIGHT_API_KEY"], signs: [], note: "needs --base-url and --model" },
  { name: "executor", title: "a program of one's own, or a stub", keys: [], signs: [], note: "needs --executor", isExecutor: true },
  { name: "offline", title: "the offline demonstration model", keys: [], signs: [], note: "needs nothing" },
];

/** The vendor of this name. */
export function vendorNamed(name: string): Vendor | undefined {
  return vendors.find((vendor) => vendor.name === name.toLowerCase());
}
