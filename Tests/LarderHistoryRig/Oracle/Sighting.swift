/// What a download has brought: all that the service had then.
struct Sighting: Sendable {
  let store: String
  /// How many effects the service had seen.
  let number: Int
  let entities: [ModelService.Name: ModelService.Entity]
}
