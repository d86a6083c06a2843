import { type ReactNode, use } from "react";
import { Icon } from "../../app/icon.tsx";
import { useFileAddress } from "../../app/use-file-address.ts";
import { ActionsContext } from "../actions-context.ts";
import { PlainText } from "./plain-text.tsx";
import { safeLink, safePicture } from "./safe-link.ts";

/** A picture in a text: shown when it is at hand, else a link to where it is. */
export function MarkdownPicture({ address, text }: { readonly address: string; readonly text: string }): ReactNode {
  const { fileUrl } = use(ActionsContext);
  const picture = safePicture(address, fileUrl);
  const shown = useFileAddress(picture);
  if (picture !== undefined) return <img className="markdown-picture" src={shown} alt={text} loading="lazy" />;
  const link = safeLink(address);
  const words = <PlainText text={text === "" ? "Picture" : text} />;
  if (link === undefined) return words;
  return (
    <a className="markdown-picture-link" href={link} target="_blank" rel="noopener noreferrer nofollow" title={link}>
      <Icon name="file" />
      {words}
    </a>
  );
}
