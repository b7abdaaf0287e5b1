import Synchronization

/// Numbers that count up, in the place of chance.
final class UploadRandom: Sendable {
  private let last = Atomic<UInt64>(0x9E37_79B9_7F4A_7C15)
  func next() -> UInt64 { last.wrappingAdd(0x1234_5678_9ABC_DEF1, ordering: .relaxed).newValue }
}
