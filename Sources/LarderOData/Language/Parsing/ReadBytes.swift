#if DEBUG
  import Synchronization
#endif

/// The bytes of the text that is parsed. In debug builds they can count how often a byte is read. With that, tests
/// check without a clock that the work grows linearly with the text, not with its square.
struct ReadBytes {
  private let bytes: [UInt8]
  #if DEBUG
    private let reads = ByteReads.current
  #endif

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    #if DEBUG
      reads?.add(bytes.count)
    #endif
  }

  var count: Int { bytes.count }

  @inline(__always)
  subscript(place: Int) -> UInt8 {
    #if DEBUG
      reads?.add(1)
    #endif
    return bytes[place]
  }

  subscript(range: Range<Int>) -> ArraySlice<UInt8> {
    #if DEBUG
      reads?.add(range.count)
    #endif
    return bytes[range]
  }

  /// The text of a range.
  func string(_ range: Range<Int>) -> String {
    #if DEBUG
      reads?.add(range.count)
    #endif
    return bytes.withUnsafeBufferPointer { String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
  }
}

#if DEBUG
  /// Counts how many bytes readers read.
  package final class ByteReads: Sendable {
    /// The counter of the readers that are created in this task.
    @TaskLocal package static var current: ByteReads?
    private let total = Atomic(0)

    package init() {}

    package var count: Int { total.load(ordering: .relaxed) }

    func add(_ count: Int) { total.add(count, ordering: .relaxed) }
  }
#endif
