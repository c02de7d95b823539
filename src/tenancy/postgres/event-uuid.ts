import { createHash } from "node:crypto";

/**
 * The UUID under which an event is kept: its id, which is one (`newEventId`). An id of another kind gets one of version
 * 8 (RFC 9562) that is made from it and tells no time.
 */
export function eventUuid(eventId: string): string {
  if (UUID.test(eventId)) return eventId;
  const digest = createHash("sha256").update(eventId).digest("hex");
  return `00000000-0000-8${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
