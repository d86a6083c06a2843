/** True for a media type whose bytes are text, in UTF-8. Models read such a file as text. */
export function isTextType(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /[/+](?:json|xml|yaml|javascript)$/.test(mediaType);
}
