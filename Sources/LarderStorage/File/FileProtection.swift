#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// When a store's files can be read and written: the classes of Apple's data protection, by their names there.
///
/// A store sets the class each time it opens its files, when no other store of the process has them open: of the database and its
/// log, or of each entry of a folder as it is stored. Between a change of the key and the next opening, a file has the
/// class that the system gives to new ones. On a Mac, in a simulator and on Linux no class is set; without a passcode on the device it has no effect.
///
/// Lock files, the counters that processes share, and SQLite's index of the log hold no content and have the class `none` always.
/// The last two are mapped into memory, and the system ends a process that touches a mapped file whose class forbids it.
public enum FileProtection: Sendable, Hashable, CaseIterable {
  /// Only while the device is unlocked. Ten seconds after it is locked, reading and writing fail with a failure of input and output, an open store's too:
  /// suspend the store when the application is told that protected data become unavailable, and resume it afterwards.
  case complete
  /// Files that are open stay usable when the device is locked; a store cannot be opened or resumed then, and an open one can need to open a file again.
  case completeUnlessOpen
  /// From the first time the device is unlocked after it was started: work in the background goes on while it is locked.
  case completeUntilFirstUserAuthentication
  /// Always.
  case none

  /// The class's number (`PROTECTION_CLASS_A` to `D`).
  package var number: Int32 {
    switch self {
    case .complete: 1
    case .completeUnlessOpen: 2
    case .completeUntilFirstUserAuthentication: 3
    case .none: 4
    }
  }

  /// Sets the class of an open file: 0, or -1 with the reason in `errno`. Nil where files have no classes.
  package static let system: (@Sendable (_ descriptor: Int32, _ number: Int32) -> Int32)? = {
    #if !targetEnvironment(simulator) && (os(iOS) || os(visionOS))
      return { fcntl($0, F_SETPROTECTIONCLASS, $1) }
    #else
      return nil
    #endif
  }()

  /// Gives an open file this class: 0, or -1 with the reason in `errno`. On a file system without classes nothing happens; that a
  /// file without content keeps a stricter class is no failure.
  package func protect(
    _ descriptor: Int32, set: (@Sendable (Int32, Int32) -> Int32)? = system
  ) -> Int32 {
    guard let set, set(descriptor, number) != 0 else { return 0 }
    return self == .none || [ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY].contains(errno) ? 0 : -1
  }
}
