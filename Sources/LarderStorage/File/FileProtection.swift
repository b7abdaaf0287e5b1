#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// When a store's files can be read and written: the classes of Apple's data protection, with Apple's names.
///
/// A store sets the class each time it opens its files, unless another store of the process has them open. It sets the
/// class of the database and its log, or of each entry of a folder when it is stored. Between a change of the key and
/// the next opening, a file has the class that the system gives to new files. On a Mac, in a simulator and on Linux no
/// class is set; on a device without a passcode it has no effect.
///
/// Lock files, the counters that processes share, and SQLite's index of the log have no content to protect and always
/// have the class `none`. The last two are mapped into memory, and the system ends a process that accesses a mapped
/// file whose class forbids it.
public enum FileProtection: Sendable, Hashable, CaseIterable {
  /// Only while the device is unlocked. Ten seconds after it is locked, reads and writes fail with an I/O error, in an
  /// open store too: suspend the store when the system notifies the application that protected data become unavailable,
  /// and resume it afterwards.
  case complete
  /// Files that are open stay usable when the device is locked. A store cannot be opened or resumed then, and an open
  /// store may need to open a file again.
  case completeUnlessOpen
  /// From the first time the device is unlocked after it was started: background work continues while it is locked.
  case completeUntilFirstUserAuthentication
  /// Always, whether the device is locked or not.
  case none

  /// The number of the class (`PROTECTION_CLASS_A` to `D`).
  package var number: Int32 {
    switch self {
    case .complete: 1
    case .completeUnlessOpen: 2
    case .completeUntilFirstUserAuthentication: 3
    case .none: 4
    }
  }

  /// Sets the class of an open file. Returns 0, or -1 with the reason in `errno`. Nil on systems whose files have no
  /// classes.
  package static let system: (@Sendable (_ descriptor: Int32, _ number: Int32) -> Int32)? = {
    #if !targetEnvironment(simulator) && (os(iOS) || os(visionOS))
      return { fcntl($0, F_SETPROTECTIONCLASS, $1) }
    #else
      return nil
    #endif
  }()

  /// Sets this class for an open file. Returns 0, or -1 with the reason in `errno`. Does nothing on a file system
  /// without classes. It is not a failure if a file without content keeps a stricter class.
  package func protect(
    _ descriptor: Int32, set: (@Sendable (Int32, Int32) -> Int32)? = system
  ) -> Int32 {
    guard let set, set(descriptor, number) != 0 else { return 0 }
    return self == .none || [ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY].contains(errno) ? 0 : -1
  }
}
