//! Handles errors of the offline store: by category and name, or all at once.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: Errors SERVICE-ROOT FOLDER")
  exit(2)
}

let provider = try OfflineODataProvider(
  serviceRoot: root, transport: try PlatformTransport(),
  parameters: OfflineODataParameters(path: CommandLine.arguments[2]))

// Handles one category, and in it the names for which the application has a solution.
func newestOrders(_ count: Int) async throws -> [ODataEntity] {
  do {
    return try await provider.readEntitySet("A_SalesOrder?$orderby=SalesOrder desc&$top=\(count)").entities
  } catch OfflineODataError.invalidInput(let errorCode, let errorMessage) {
    switch OfflineODataErrorName(rawValue: errorCode) {
    case .notPositiveTop: print("the number of orders must not be negative")
    case .duplicateKeyProperty: print("a key property occurs twice: \(errorMessage)")
    default: print("\(errorCode): \(errorMessage)")
    }
    return []
  }
}

// Handles all categories: who can fix the error.
func uploadChanges() async throws {
  do {
    let report = try await provider.upload()
    print("sent \(report.sent), failed \(report.failed), left \(report.left)")
  } catch let error as OfflineODataError {
    switch error {
    case .communicationError(_, let errorMessage): print("try again later: \(errorMessage)")
    case .serverSideError(let errorCode, let errorMessage): print("the service, \(errorCode): \(errorMessage)")
    case .preconditionFailed(let errorCode, _) where errorCode == OfflineODataErrorName.uploadRunning.rawValue:
      print("another upload is running")
    case .invalidInput, .preconditionFailed, .notFound, .notSupported, .clientInternalError: throw error
    }
  }
}

// Uses the properties that the errors of all stores have.
func describe(_ error: any Error) -> String {
  guard let error = error as? any LarderError else { return "another error: \(error)" }
  if error.isCancelled { return "cancelled" }
  let text = error.isOffline ? "offline" : error.explanation.message
  return error.isTransient ? "\(text) (try again later)" : "\(text) \(error.explanation.cure)"
}

// Each request of a batch has its own OData error.
func sendBatch(_ requests: [ODataSingleRequest]) async throws {
  let response = try await provider.execute(batch: ODataBatchRequest(requests.map { .single($0) }))
  for slot in response.slots {
    if let error: DataServiceError = slot?.failure { print(error.httpStatus ?? 0, error.payload?.message ?? "-") }
  }
}

try await provider.open()
print(try await newestOrders(-1).count)
try await sendBatch([.read("A_SalesOrder?$top=1"), .read("A_SalesOrder('nowhere')")])
try await uploadChanges()
try await provider.close()
