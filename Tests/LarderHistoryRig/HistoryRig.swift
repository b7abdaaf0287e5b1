// Random histories of offline stores, a service and other clients, and a judge of what came of them.
//
// The steps of one history:
// 1. Model/    ``ModelService``: a service as a value. A request goes in, a response comes out, and each effect is written
//              down with who caused it. ``ModelKind`` says how it behaves: ETags, keys, deltas, batches, media.
// 2. Fault/    ``FaultyTransport`` stands between a store and the service: it loses, delays and damages. A crash copies the
//              store's files as they are at that time; the copy is opened afterwards.
// 3. History/  ``HistoryPlan``: steps by chance from a seed. ``HistoryRun`` carries them out with two or three stores and a
//              second writer, and keeps a readable trace.
// 4. Oracle/   what must hold during and after a history; what does not is a ``Finding``. ``HistoryShrinker`` drops the
//              steps that a finding does not need.
//
// The same seed gives the same history: time, chance and the order of requests come from it.
