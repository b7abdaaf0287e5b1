#if canImport(Darwin)
  import Dispatch

  /// The system's warnings of low memory. They end with this object.
  //
  // @unchecked Sendable: the initializer sets up the source; later it is only cancelled, when the last reference is
  // released.
  final class MemoryPressure: @unchecked Sendable {
    private let source: any DispatchSourceMemoryPressure

    /// Runs a closure at each warning.
    init(_ body: @escaping @Sendable () -> Void) {
      source = DispatchSource.makeMemoryPressureSource(
        eventMask: [.warning, .critical], queue: .global(qos: .utility))
      source.setEventHandler(handler: body)
      source.activate()
    }

    deinit { source.cancel() }
  }
#else
  /// Systems other than Apple's do not warn of low memory.
  final class MemoryPressure: Sendable {
    init(_: @escaping @Sendable () -> Void) {}
  }
#endif
