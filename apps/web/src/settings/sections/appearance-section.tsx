import { type ReactNode, useId, useSyncExternalStore } from "react";
import { useServices } from "../../app/services.ts";
import { type Theme, themes } from "../../app/theme.ts";

const words: { readonly [Name in Theme]: { readonly name: string; readonly means: string } } = {
  system: { name: "As the system", means: "Light or dark, as this device is set." },
  light: { name: "Light", means: "Always light." },
  dark: { name: "Dark", means: "Always dark." },
};

/** Light or dark. */
export function AppearanceSection(): ReactNode {
  const { theme } = useServices();
  const chosen = useSyncExternalStore(theme.subscribe, theme.read);
  const name = useId();
  return (
    <fieldset className="settings-choices">
      <legend>Theme</legend>
      {themes.map((each) => (
        <label key={each} className="settings-choice">
          <input type="radio" name={name} checked={chosen === each} onChange={() => theme.choose(each)} />
          <span>
            {words[each].name}
            <span className="settings-hint">{words[each].means}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
