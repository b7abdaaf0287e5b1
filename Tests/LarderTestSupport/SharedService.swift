public import Testing

/// A service that all tests of a suite may share: put ``SharedServiceTrait`` on the suite.
public protocol SharedService: Sendable {
  /// What the trait is called in the suite's declaration, for the error where it lacks.
  static var trait: String { get }
  /// Starts one with the given arguments.
  init(_ arguments: [String]) throws(ServiceStartError)
  /// Stops it.
  func stop()
}

extension SharedService {
  /// The instance of the suite that this test belongs to; the suite has the service's trait.
  public static var ofSuite: Self {
    get throws(ServiceStartError) {
      guard let service = RunningServices.byType[ObjectIdentifier(Self.self)] as? Self else {
        throw ServiceStartError(
          service: "\(Self.self)", reason: "the suite does not have the trait \(trait)", output: "")
      }
      return service
    }
  }
}

/// Runs one service for the suite (or the test) it is put on.
public struct SharedServiceTrait<Service: SharedService>: SuiteTrait, TestTrait, TestScoping {
  let arguments: [String]

  /// Starts the service, runs the tests, stops it.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let service = try await onDedicatedThread { [arguments] in try Service(arguments) }
    defer { service.stop() }
    var all = RunningServices.byType
    all[ObjectIdentifier(Service.self)] = service
    try await RunningServices.$byType.withValue(all) { try await function() }
  }
}

/// The services of the suites around a test; a generic type can hold no task-local value.
private enum RunningServices {
  @TaskLocal static var byType: [ObjectIdentifier: any SharedService] = [:]
}
