"""Statistics of many games: standings, ratings and findings from their histories."""
