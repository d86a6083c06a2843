import { type ReactNode, useId, useSyncExternalStore } from "react";
import { Icon, type IconName } from "./icon.tsx";
import { useServices } from "./services.ts";
import { type Theme, themes } from "./theme.ts";

const signs: { readonly [Name in Theme]: { readonly icon: IconName; readonly name: string } } = {
  system: { icon: "screen", name: "As the system" },
  light: { icon: "sun", name: "Light" },
  dark: { icon: "moon", name: "Dark" },
};

/** Light, dark, or the setting of the system. */
export function ThemeSwitch(): ReactNode {
  const { theme } = useServices();
  const chosen = useSyncExternalStore(theme.subscribe, theme.read);
  const name = useId();
  return (
    <fieldset className="theme-switch">
      <legend className="visually-hidden">Theme</legend>
      {themes.map((each) => (
        <label key={each} className="theme-choice" title={signs[each].name}>
          <input type="radio" name={name} checked={chosen === each} onChange={() => theme.choose(each)} aria-label={signs[each].name} />
          <Icon name={signs[each].icon} />
        </label>
      ))}
    </fieldset>
  );
}
