#if canImport(Darwin)
  import Dispatch

  /// The system's warnings that memory runs short. They end with this object.
  //
  // @unchecked Sendable: the source is made ready in the initializer; later it is only cancelled, by the one who lets go last.
  final class MemoryPressure: @unchecked Sendable {
    private let source: any DispatchSourceMemoryPressure

    /// Does something at each warning.
    init(_ body: @escaping @Sendable () -> Void) {
      source = DispatchSource.makeMemoryPressureSource(
        eventMask: [.warning, .critical], queue: .global(qos: .utility))
      source.setEventHandler(handler: body)
      source.activate()
    }

    deinit { source.cancel() }
  }
#else
  /// Other systems than Apple's warn nobody that memory runs short.
  final class MemoryPressure: Sendable {
    init(_: @escaping @Sendable () -> Void) {}
  }
#endif
