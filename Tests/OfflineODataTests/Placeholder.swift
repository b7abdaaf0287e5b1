// The tests of the offline store stand in folders like its sources.
