import type { PageTool } from "./page-tool.ts";

const suggestionsMax = 12;
const colour = /^#[0-9a-f]{6}$/i;
const usual: readonly string[] = ["#0c6657", "#2a6fb0", "#7b3fa0", "#b3372b", "#c47a12", "#3d3a33"];

/** The tool `pick_color`: the person chooses a colour in a dialog of the page. */
export const pickColor: PageTool = {
  declared: {
    name: "pick_color",
    label: "Pick a colour",
    description: "Asks the person in front of the browser to pick a colour in a small dialog. Gives the colour as #rrggbb.",
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "What the colour is for, shown above the dialog." },
        suggestions: {
          type: "array",
          items: { type: "string", pattern: "^#[0-9a-fA-F]{6}$" },
          description: "Colours to offer, as #rrggbb.",
        },
      },
      additionalProperties: false,
    },
  },
  asksPerson: true,
  async run(args, { pickColour }) {
    const offered = Array.isArray(args["suggestions"]) ? args["suggestions"] : [];
    const suggestions = offered.filter((text): text is string => typeof text === "string" && colour.test(text)).slice(0, suggestionsMax);
    const prompt = typeof args["prompt"] === "string" && args["prompt"] !== "" ? args["prompt"] : "Which colour would you like?";
    const picked = await pickColour({ prompt, suggestions: suggestions.length > 0 ? suggestions : usual });
    if (picked === undefined) throw new Error("The person closed the dialog without picking a colour.");
    return JSON.stringify({ color: picked.toLowerCase() });
  },
};
