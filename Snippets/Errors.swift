//! Errors of the offline store, told apart: by category and name, or all at once.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: Errors SERVICE-ROOT FOLDER")
  exit(2)
}

let provider = try OfflineODataProvider(
  serviceRoot: root, transport: try CurlTransport(),
  parameters: OfflineODataParameters(storePath: CommandLine.arguments[2]))

// One category, and in it the names that this application can do something about.
func newestOrders(_ count: Int) async throws -> [ODataEntity] {
  do {
    return try await provider.readEntitySet("A_SalesOrder?$orderby=SalesOrder desc&$top=\(count)").entities
  } catch OfflineODataError.invalidInput(let errorCode, let errorMessage) {
    switch OfflineODataErrorName(rawValue: errorCode) {
    case .notPositiveTop: print("ask for a number of orders that is not below 0")
    case .duplicateKeyProperty: print("a key property stands twice: \(errorMessage)")
    default: print("\(errorCode): \(errorMessage)")
    }
    return []
  }
}

// All categories at once: whose turn it is.
func bringHome() async throws {
  do {
    let report = try await provider.upload()
    print("sent \(report.sent), failed \(report.failed), left \(report.left)")
  } catch let error as OfflineODataError {
    switch error {
    case .communicationError(_, let errorMessage): print("later: \(errorMessage)")
    case .serverSideError(let errorCode, let errorMessage): print("the service, \(errorCode): \(errorMessage)")
    case .preconditionFailed(let errorCode, _) where errorCode == OfflineODataErrorName.uploadRunning.rawValue:
      print("another upload is on its way")
    case .invalidInput, .preconditionFailed, .notFound, .notSupported, .clientInternalError: throw error
    }
  }
}

// The properties that the errors of all stores have.
func describe(_ error: any Error) -> String {
  guard let error = error as? any LarderError else { return "another error: \(error)" }
  if error.isCancelled { return "cancelled" }
  let text = error.isOffline ? "offline" : error.explanation.message
  return error.isTransient ? "\(text) (try again later)" : "\(text) \(error.explanation.cure)"
}

// The parts of a batch fail one by one, with errors of OData.
func several(_ requests: [ODataSingleRequest]) async throws {
  let response = try await provider.execute(batch: ODataBatchRequest(requests.map { .single($0) }))
  for slot in response.slots {
    if let error: DataServiceError = slot?.failure { print(error.httpStatus ?? 0, error.payload?.message ?? "-") }
  }
}

try await provider.open()
print(try await newestOrders(-1).count)
try await several([.read("A_SalesOrder?$top=1"), .read("A_SalesOrder('nowhere')")])
try await bringHome()
try await provider.close()
