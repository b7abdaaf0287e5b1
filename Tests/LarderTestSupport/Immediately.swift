/// Begins a task on the caller's thread, up to the point where it first waits, so that tests know what has begun.
///
/// Before macOS 26 and iOS 26 the task only begins soon: tests that count on the order need these.
@discardableResult
public func immediately<Success: Sendable>(
  _ operation: sending @escaping @isolated(any) () async throws -> Success
) -> Task<Success, any Error> {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return Task.immediate(operation: operation) }
  return Task(operation: operation)
}
