public import LarderCore

/// Why a cache operation failed. A request never fails for this reason: its response is delivered, but not stored.
public enum CacheError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The content is larger than this cache ever stores.
  case tooLarge(limit: Int)
  /// The disk is full.
  case full(path: String)
  /// The folder or file cannot be written.
  case readOnly(path: String)
  /// The data on the disk is damaged: its checksum or authentication tag is wrong. It has been removed if that was possible.
  case corrupt(path: String, reason: String)
  /// The file belongs to another application or to a later version. It is not changed.
  case foreign(path: String)
  /// The file or folder is encrypted with a key other than the given one. It is not changed.
  case wrongKey(path: String)
  /// The file or folder is encrypted, and no key was given.
  case encrypted(path: String)
  /// The file or folder exists and is not encrypted, and a key was given. It is not changed.
  case notEncrypted(path: String)
  /// Another failure of the disk, or the file system.
  case failed(path: String, reason: String)
  /// The entry was removed while its content was read.
  case gone
  /// The cache is closed.
  case closed
  /// This cache does not support the operation that the text names.
  case notSupported(String)
  /// The cache is suspended.
  case suspended
  /// The application gave no path, and the platform's folder for caches is unknown.
  case noDefaultLocation(reason: String)

  /// What happened and how to fix it, safe to show.
  public var description: String {
    switch self {
    case .tooLarge(let limit): "The content is larger than \(limit) bytes, the limit of this cache for one resource."
    case .full(let path): "The disk of \(path) is full. Free some disk space, or give the cache a smaller limit."
    case .readOnly(let path): "\(path) cannot be written. Check its permissions, or choose another folder."
    case .corrupt(let path, let reason):
      "\(path) is damaged (\(ErrorExplanation.clause(reason))); its content is downloaded again when needed."
    case .foreign(let path): "\(path) is not a file of this cache. Choose another path."
    case .wrongKey(let path):
      "\(path) is encrypted with another key. Open it with the key that it was created with, or delete it: its content is downloaded again."
    case .encrypted(let path): "\(path) is encrypted, and no key was given. Open it with its key."
    case .notEncrypted(let path):
      "\(path) is not encrypted, and a key was given. Open it without a key, or delete it: its content is downloaded again."
    case .failed(let path, let reason): "\(path): \(reason)"
    case .gone: "The cached content was removed while it was being read."
    case .closed: "The cache is closed."
    case .suspended: "The cache is suspended."
    case .notSupported(let feature): "Not supported: \(feature)"
    case .noDefaultLocation(let reason): "\(ErrorExplanation.sentence(reason)) \(CacheError.cureWithoutLocation)"
    }
  }
}

extension CacheError: LarderError {
  /// The stable number, from 1 in the order of the cases.
  public var errorIdentity: ErrorIdentity {
    switch self {
    case .tooLarge: ErrorIdentity(1, "tooLarge", .limit)
    case .full: ErrorIdentity(2, "full", .storage)
    case .readOnly: ErrorIdentity(3, "readOnly", .storage)
    case .corrupt: ErrorIdentity(4, "corrupt", .invalidData)
    case .foreign: ErrorIdentity(5, "foreign", .storage)
    case .wrongKey: ErrorIdentity(6, "wrongKey", .encryption)
    case .encrypted: ErrorIdentity(7, "encrypted", .encryption)
    case .notEncrypted: ErrorIdentity(8, "notEncrypted", .encryption)
    case .failed: ErrorIdentity(9, "failed", .storage)
    case .gone: ErrorIdentity(10, "gone", .notFound)
    case .closed: ErrorIdentity(11, "closed", .state)
    case .notSupported: ErrorIdentity(12, "notSupported", .notSupported)
    case .suspended: ErrorIdentity(13, "suspended", .state)
    case .noDefaultLocation: ErrorIdentity(14, "noDefaultLocation", .invalidInput)
    }
  }

  /// What happened and how to fix it.
  public var explanation: ErrorExplanation {
    let orDelete = "or delete it: its content is downloaded again."
    return switch self {
    case .tooLarge: ErrorExplanation(description, cure: "Give the cache a larger limit.")
    case .full(let path):
      ErrorExplanation(
        "The disk of \(path) is full.", cure: "Free some disk space, or give the cache a smaller limit.")
    case .readOnly(let path):
      ErrorExplanation("\(path) cannot be written.", cure: "Check its permissions, or choose another folder.")
    case .corrupt(let path, let reason):
      ErrorExplanation(
        "\(path) is damaged: \(reason)", cure: "You need not do anything: the content is downloaded again when needed.")
    case .foreign(let path): ErrorExplanation("\(path) is not a file of this cache.", cure: "Choose another path.")
    case .wrongKey(let path):
      ErrorExplanation(
        "\(path) is encrypted with another key.", cure: "Open it with the key that it was created with, \(orDelete)")
    case .encrypted(let path):
      ErrorExplanation("\(path) is encrypted, and no key was given.", cure: "Open it with its key.")
    case .notEncrypted(let path):
      ErrorExplanation("\(path) is not encrypted, and a key was given.", cure: "Open it without a key, \(orDelete)")
    case .failed: ErrorExplanation("The cache failed: \(description)", cure: "Check the disk, and try again.")
    case .gone: ErrorExplanation(description, cure: "Request the resource again.")
    case .closed: ErrorExplanation(description, cure: "Open it first.")
    case .suspended: ErrorExplanation(description, cure: "Call resume() when the application is active again.")
    case .notSupported: ErrorExplanation(description, cure: "Use a cache that supports it.")
    case .noDefaultLocation(let reason): ErrorExplanation(reason, cure: CacheError.cureWithoutLocation)
    }
  }

  private static let cureWithoutLocation = "Set HOME to the user's home folder, or give the cache a path."
}
