import { type ComponentType, type ReactNode, useEffect, useId, useState } from "react";
import { Icon } from "../app/icon.tsx";
import type { SettingsSection } from "./settings-section.ts";

type Loaded = { readonly Section: ComponentType } | { readonly isFailed: true } | undefined;

/** One section under its heading, loaded when it is first shown. Give it a `key` per section. */
export function SectionPlace({ section }: { readonly section: SettingsSection }): ReactNode {
  const [loaded, setLoaded] = useState<Loaded>();
  const titleId = useId();
  useEffect(() => {
    let isShown = true;
    const show = (next: Loaded): void => {
      if (isShown) setLoaded(next);
    };
    section.load().then(
      (Section) => show({ Section }),
      () => show({ isFailed: true }),
    );
    return () => {
      isShown = false;
    };
  }, [section]);
  return (
    <section className="settings-section" aria-labelledby={titleId}>
      <h2 id={titleId} tabIndex={-1} data-section-title>
        {section.title}
      </h2>
      {loaded === undefined ? (
        <p className="settings-loading" role="status">
          <span className="spinner" /> Loading
        </p>
      ) : "isFailed" in loaded ? (
        <NotLoaded />
      ) : (
        <loaded.Section />
      )}
    </section>
  );
}

/** A server that was updated has other file names: only a page that is loaded again knows them. */
function NotLoaded(): ReactNode {
  return (
    <div className="problem" role="alert">
      <span className="problem-sign">
        <Icon name="warning" />
      </span>
      <div className="problem-text">
        <p>This section could not be loaded.</p>
        <p className="problem-fix">The server is out of reach, or was updated since this page was opened. Load the page again.</p>
        <div className="problem-actions">
          <button type="button" className="button small" onClick={() => location.reload()}>
            Load again
          </button>
        </div>
      </div>
    </div>
  );
}
