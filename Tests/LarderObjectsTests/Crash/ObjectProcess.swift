import LarderTestSupport

@testable import LarderCrashRig

/// A store in another process.
enum ObjectProcess {
  /// Starts a process.
  static func start(_ kind: ObjectCrashRig.Kind, _ path: String, _ first: Int) throws -> CrashRigProcess {
    try CrashRigProcess(["object", kind.rawValue, path, String(first)])
  }

  /// The lines that a process prints until its end.
  static func lines(_ kind: ObjectCrashRig.Kind, _ path: String, _ first: Int) async throws -> [String] {
    try await start(kind, path, first).lines()
  }
}
