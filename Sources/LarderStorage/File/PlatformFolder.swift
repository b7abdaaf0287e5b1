import LarderCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The platform's folders for an application's files, if the application names none. Never the current folder.
package enum PlatformFolder {
  /// The folder for data that cannot be downloaded again: `Library/Application Support` on Apple platforms, elsewhere
  /// `$XDG_DATA_HOME` or `~/.local/share`; in it a folder with the application's name.
  package static var data: String {
    #if canImport(Darwin)
      return inside(folder(.applicationSupportDirectory))
    #else
      return inside(folder("XDG_DATA_HOME", or: ".local/share"))
    #endif
  }

  /// The folder for data that can be downloaded again: `Library/Caches` on Apple platforms, elsewhere `$XDG_CACHE_HOME`
  /// or `~/.cache`; in it a folder with the application's name.
  package static var caches: String {
    #if canImport(Darwin)
      return inside(folder(.cachesDirectory))
    #else
      return inside(folder("XDG_CACHE_HOME", or: ".cache"))
    #endif
  }

  private static func inside(_ folder: String) -> String {
    folder + "/" + FileName.distinct(ProcessInfo.processInfo.processName)
  }

  #if canImport(Darwin)
    /// In a sandbox this is the application's own folder.
    private static func folder(_ kind: FileManager.SearchPathDirectory) -> String {
      FileManager.default.urls(for: kind, in: .userDomainMask).first?.path
        ?? FileManager.default.temporaryDirectory.path
    }
  #else
    /// The folder that a variable names, else one in the user's own. Relative paths are ignored, as the XDG Base
    /// Directory Specification says.
    private static func folder(_ variable: String, or relativePath: String) -> String {
      let environment = ProcessInfo.processInfo.environment
      if let folder = environment[variable], folder.hasPrefix("/") { return folder }
      if let home = environment["HOME"], home.hasPrefix("/") { return home + "/" + relativePath }
      return FileManager.default.homeDirectoryForCurrentUser.path + "/" + relativePath
    }
  #endif
}

/// Converts any text into a file name.
package enum FileName {
  /// A file name for a text. Two different texts never give names that differ only in letter case or Unicode
  /// normalization, which many file systems consider equal.
  ///
  /// Short texts of lower-case letters, digits, `-`, `_` and single dots are used as they are. All others are converted
  /// to such a text, followed by a digest.
  package static func distinct(_ text: String) -> String {
    var name = ""
    for byte in text.utf8.prefix(64) {
      switch byte {
      case 0x30...0x39, 0x61...0x7A, 0x2D, 0x5F: name.unicodeScalars.append(UnicodeScalar(byte))
      case 0x2E where !name.isEmpty && name.utf8.last != 0x2E: name.unicodeScalars.append(UnicodeScalar(byte))
      case 0x41...0x5A: name.unicodeScalars.append(UnicodeScalar(byte + 0x20))
      default: name += "_"
      }
    }
    // Swift compares characters with normalization, so the bytes are compared.
    if !name.isEmpty, name.utf8.elementsEqual(text.utf8), !name.hasSuffix(".") { return name }
    return name + "-" + Hexadecimal.text(Digest.sha256(Array(text.utf8)).prefix(8))
  }
}
