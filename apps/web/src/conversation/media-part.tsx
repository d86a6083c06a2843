import type { FilePart, ImagePart, MediaSource } from "@loopwright/core/protocol";
import { type ReactNode, use, useState } from "react";
import { Icon } from "../app/icon.tsx";
import { useFileAddress } from "../app/use-file-address.ts";
import { ActionsContext } from "./actions-context.ts";
import { inertText, PlainText } from "./markdown/plain-text.tsx";
import { safeLink, safePicture } from "./markdown/safe-link.ts";

export interface MediaPartProps {
  readonly part: ImagePart | FilePart;
  /** What a picture shows. Default: that it belongs to this message. */
  readonly about?: string | undefined;
}

/** Characters of the text in place of a picture. */
const aboutMax = 300;

/** A picture or a file of a message. */
export function MediaPart({ part, about }: MediaPartProps): ReactNode {
  const { fileUrl } = use(ActionsContext);
  const [isBroken, setBroken] = useState(false);
  const address = addressOf(part.source, part.mediaType, fileUrl);
  const picture = part.type === "image" && address !== undefined && !isBroken ? safePicture(address, fileUrl) : undefined;
  const shown = useFileAddress(picture);
  const name = part.type === "file" && part.name !== undefined ? part.name : part.type === "image" ? "Picture" : "File";
  const alt = inertText((about ?? "").slice(0, aboutMax).trim() || "Picture of this message");
  if (picture !== undefined) {
    return (
      <a className="picture" href={shown} target="_blank" rel="noopener noreferrer" aria-label={`Open the picture: ${alt}`}>
        <img src={shown} alt={alt} loading="lazy" onError={() => setBroken(true)} />
      </a>
    );
  }
  const link = address === undefined ? undefined : (safeLink(address) ?? ("blob" in part.source ? address : undefined));
  const words = (
    <>
      <Icon name="file" />
      <span className="file-name">
        <PlainText text={name} />
      </span>
      <span className="file-type">{isBroken ? "not found" : part.mediaType}</span>
    </>
  );
  if (link === undefined) return <span className="file">{words}</span>;
  return (
    <a className="file" href={link} target="_blank" rel="noopener noreferrer" download={name}>
      {words}
    </a>
  );
}

function addressOf({ data, url, blob }: MediaSource, mediaType: string, fileUrl: (blob: string) => string): string | undefined {
  if (blob !== undefined) return fileUrl(blob);
  return data === undefined ? url : `data:${mediaType};base64,${data}`;
}
