import { AgentError, type PromptLayer } from "@loopwright/core";

/** A layer whose text was longer than its budget. */
export interface OverBudget {
  readonly source: string;
  readonly characters: number;
  readonly charactersMax: number;
}

export interface PromptBudget {
  /** Characters (UTF-16 code units) that the text may have; 100 at least. Four are about a token. */
  readonly charactersMax: number;
  /**
   * What becomes of a longer text. `cut`: it ends at the last paragraph, else line, else word that fits, before a line that reports it to the model. `refuse`:
   * a fixed text is refused at once with CONFIG_INVALID, and a run whose function gives one fails with it before the model is called. Default `cut`.
   */
  readonly over?: "cut" | "refuse";
  /** Called with each text that is too long: for a log. It gets no text. */
  readonly onOver?: (over: OverBudget) => void;
}

const charactersLeast = 100;
const cutMark = "\n\n[The rest of this part is left out: it is too long.]";

/** The same layer within a budget. Its source and its cache mark stay. @throws AgentError CONFIG_INVALID */
export function withBudget(layer: PromptLayer, budget: PromptBudget): PromptLayer {
  const { charactersMax, over = "cut", onOver } = budget;
  const { text, source = "agent" } = layer;
  if (!Number.isInteger(charactersMax) || charactersMax < charactersLeast)
    throw new AgentError("CONFIG_INVALID", {
      message: `The budget of the prompt layer \`${source}\` is no number of characters from ${charactersLeast} on.`,
      fix: "Set `charactersMax` to a whole number, such as 8000.",
    });
  const within = (whole: string): string => {
    const characters = whole.length;
    if (characters <= charactersMax) return whole;
    onOver?.({ source, characters, charactersMax });
    if (over === "cut") return cut(whole, charactersMax);
    throw new AgentError("CONFIG_INVALID", {
      message: `The prompt layer \`${source}\` has ${characters} characters; its budget is ${charactersMax}.`,
      fix: 'Shorten the text, raise `charactersMax`, or let it be cut with `over: "cut"`.',
    });
  };
  if (typeof text === "string") return { ...layer, text: within(text) };
  return {
    ...layer,
    text: async (context) => {
      const whole = await text(context);
      return whole === undefined ? undefined : within(whole);
    },
  };
}

/** At most this many characters, with the mark. Where a cut would lose more than half of what fits, the next finer border counts. */
function cut(whole: string, charactersMax: number): string {
  const room = charactersMax - cutMark.length;
  const fits = whole.slice(0, room);
  const border = ["\n\n", "\n", " "].map((end) => fits.lastIndexOf(end)).find((at) => at >= room / 2) ?? room;
  // Half of a character that takes two units is none.
  const isSplit = border === room && /[\uD800-\uDBFF]$/.test(fits);
  return `${fits.slice(0, isSplit ? border - 1 : border).trimEnd()}${cutMark}`;
}
