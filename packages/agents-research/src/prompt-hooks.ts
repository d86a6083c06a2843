import type { Hooks, Message } from "@loopwright/core";
import { defaultSettings, type SettingsSource } from "./user-settings.ts";

/** Examples in front of the conversation, for models that need them. */
export interface FewShot {
  readonly models: readonly string[];
  readonly messages: readonly Message[];
}

export interface PromptOptions {
  readonly settings?: SettingsSource;
  readonly fewShot?: FewShot;
}

/** Adds the user's sections behind the prompt and the rules of tools: personalization, memories, project rule, attachments. A blank one is left out. */
export function promptHooks({
  settings = defaultSettings,
  fewShot,
}: { readonly [Name in keyof PromptOptions]: PromptOptions[Name] | undefined }): Hooks {
  return {
    name: "prompt",
    async prepare({ access, labels, model, system }) {
      const { personalization, memory, projectRule } = await settings.settingsOf(access, labels);
      const sections: readonly (readonly [string, string | undefined])[] = [
        ["Personalization", personalization?.enabled ? personalization.text : undefined],
        ["Memories of the user", memory?.enabled ? memory.profile : undefined],
        ["Rule of the project", projectRule],
        ["Attachments", attached(labels["attachments"])],
      ];
      const texts = sections.flatMap(([title, text]) => (text === undefined || text.trim() === "" ? [] : [`# ${title}\n${text}`]));
      const whole = [...(system === undefined ? [] : [system]), ...texts].join("\n\n");
      return {
        ...(texts.length > 0 ? { system: whole } : {}),
        ...(fewShot?.models.includes(model) ? { examples: fewShot.messages } : {}),
      };
    },
  };
}

/** `keys`: parted by commas. */
const attached = (keys = ""): string | undefined =>
  keys === "" ? undefined : `The user has attached these files: ${keys.split(",").join(", ")}.`;
