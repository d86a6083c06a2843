import type { ReactNode } from "react";
import { Icon } from "../../app/icon.tsx";
import { PlainText } from "../markdown/plain-text.tsx";

/** A notice of the runtime to the model. */
export function Notice({ text }: { readonly text: string }): ReactNode {
  return (
    <p className="notice-line">
      <Icon name="info" />
      <span>
        <span className="notice-who">Note to the model:</span> <PlainText text={text} />
      </span>
    </p>
  );
}
