/// Suspends until the task is cancelled: for what never ends by itself.
public func untilCancelled() async {
  for await _ in AsyncStream(Void.self, { _ in }) {}
}
