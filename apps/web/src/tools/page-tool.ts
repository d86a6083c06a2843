import type { DeclaredTool, JsonObject } from "@loopwright/core/protocol";

/** What a tool of the page has while it runs. */
export interface PageToolContext {
  /** Aborted when the call is answered elsewhere or no longer wanted. */
  readonly signal: AbortSignal;
  /** Asks the person in a dialog; `undefined`: closed without an answer. */
  pickColour(question: ColourQuestion): Promise<string | undefined>;
}

/** What a person is asked. */
export interface ColourQuestion {
  readonly prompt: string;
  /** `#rrggbb`. */
  readonly suggestions: readonly string[];
}

/** A tool that runs in the page: its declaration for the model, and its function. */
export interface PageTool {
  readonly declared: DeclaredTool;
  /** True when it asks a person: then every open page may ask, and the first answer counts. */
  readonly asksPerson: boolean;
  /** The answer for the model. May throw: the model then gets the words of the error. */
  run(args: JsonObject, context: PageToolContext): Promise<string> | string;
}
